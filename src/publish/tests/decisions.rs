use std::time::{Duration, Instant};

use super::{
    super::{decide::*, live::*},
    *,
};
use crate::api::{LabelPrefix, bounds};

fn live(addon: &Addon) -> Option<Live> {
    Held::of(addon).map(|held| held.live)
}

fn digest(status: &AddonStatus) -> Digest {
    Digest::of(Some(status))
}

/// The action in a line.
fn decided(entry: &Entry, now: Instant) -> String {
    let draft = |draft: &Draft| format!("{:?} {} {}", draft.form, draft.status.health, draft.status.reason);
    match decide("dns", entry, &LabelPrefix::default(), now) {
        Action::Nothing => "nothing".into(),
        Action::Wait(at) => format!("wait {:?}", at - now),
        Action::Create(identifier, written) => format!("create {identifier}: {}", draft(&written)),
        Action::Status(written) => format!("status: {}", draft(&written)),
        Action::Delete(uid) => format!("delete {uid}"),
    }
}

#[test]
fn each_situation_has_its_action() {
    let now = Instant::now();
    let show = || Wish::Show(summary("dns", status("Healthy")));
    let gone = || Wish::Gone { since: time(900) };
    let ours = |said: &str| live(&addon("dns", "dns", true, 1, Some(status(said))));
    let by_hand = |said: &str| live(&addon("dns", "dns", false, 1, Some(status(said))));
    let bare = |managed| live(&addon("dns", "dns", managed, 1, None));
    let misnamed = |managed| live(&addon("dns", "other", managed, 1, None));
    let mut deleting = addon("dns", "dns", true, 1, None);
    deleting.metadata.deletion_timestamp = Some(Time(time(60)));
    let tried = |form, answer| Some(Tried { wanted: digest(&status("Healthy")), form, answer });
    let pruned = status("Pruned");
    let headline = bounds::headline(&status("Healthy"));
    let after = now + Duration::from_secs(1);
    let refused = Answer::Refused(after);
    #[rustfmt::skip]
    let cases = [
        ("new", Entry { wish: show(), ..Entry::default() }, "create dns: Whole Healthy X"),
        ("as it should be", Entry { wish: show(), live: ours("Healthy"), ..Entry::default() }, "nothing"),
        ("changed", Entry { wish: show(), live: ours("Degraded"), ..Entry::default() }, "status: Whole Healthy X"),
        ("created a moment ago", Entry { wish: show(), live: bare(true), ..Entry::default() }, "status: Whole Healthy X"),
        ("too early", Entry { wish: show(), not_before: Some(after), ..Entry::default() }, "wait 1s"),
        ("late enough", Entry { wish: show(), not_before: Some(now), ..Entry::default() }, "create dns: Whole Healthy X"),
        ("by hand, with components", Entry { wish: show(), live: by_hand("Degraded"), ..Entry::default() }, "status: Whole Healthy X"),
        ("nobody said", Entry { live: ours("Healthy"), ..Entry::default() }, "nothing"),
        ("gone", Entry { wish: gone(), live: ours("Healthy"), ..Entry::default() }, "delete uid-dns"),
        ("gone and deleted", Entry { wish: gone(), ..Entry::default() }, "nothing"),
        ("gone and being deleted", Entry { wish: gone(), live: live(&deleting), ..Entry::default() }, "nothing"),
        ("by hand, without components", Entry { wish: gone(), live: bare(false), ..Entry::default() }, "status: Whole Unknown NoComponents"),
        ("by hand, nobody said", Entry { live: bare(false), ..Entry::default() }, "nothing"),
        ("misnamed by hand", Entry { live: misnamed(false), ..Entry::default() }, "status: Whole Unknown NameMismatch"),
        ("misnamed in our place", Entry { wish: show(), live: misnamed(false), ..Entry::default() }, "status: Whole Unknown NameMismatch"),
        ("misnamed and ours", Entry { wish: show(), live: misnamed(true), ..Entry::default() }, "delete uid-dns"),
        ("refused whole", Entry { wish: show(), live: bare(true), tried: tried(Form::Whole, refused), ..Entry::default() }, "status: Headline Healthy X"),
        ("refused in every form", Entry { wish: show(), live: bare(true), tried: tried(Form::Headline, refused), ..Entry::default() }, "wait 1s"),
        ("refused in every form, a while ago", Entry { wish: show(), live: bare(true), tried: tried(Form::Headline, Answer::Refused(now)), ..Entry::default() }, "status: Whole Healthy X"),
        ("refused, and said by somebody else", Entry { wish: show(), live: ours("Healthy"), tried: tried(Form::Headline, Answer::Refused(now)), ..Entry::default() }, "nothing"),
        ("refused, another is wanted", Entry { wish: Wish::Show(summary("dns", status("Degraded"))), live: bare(true), tried: tried(Form::Headline, refused), ..Entry::default() }, "status: Whole Degraded X"),
        ("its headline stands", Entry { wish: show(), live: live(&addon("dns", "dns", true, 1, Some(headline.clone()))), tried: tried(Form::Headline, Answer::Taken(digest(&headline))), ..Entry::default() }, "nothing"),
        ("its headline was edited", Entry { wish: show(), live: ours("Edited"), tried: tried(Form::Headline, Answer::Taken(digest(&headline))), ..Entry::default() }, "status: Headline Healthy X"),
        ("pruned by the API server", Entry { wish: show(), live: ours("Pruned"), tried: tried(Form::Whole, Answer::Taken(digest(&pruned))), ..Entry::default() }, "nothing"),
        ("pruned, then edited", Entry { wish: show(), live: ours("Edited"), tried: tried(Form::Whole, Answer::Taken(digest(&pruned))), ..Entry::default() }, "status: Whole Healthy X"),
        ("pruned, then deleted", Entry { wish: show(), tried: tried(Form::Whole, Answer::Taken(digest(&pruned))), ..Entry::default() }, "create dns: Whole Healthy X"),
    ];
    for (situation, entry, action) in cases {
        assert_eq!(decided(&entry, now), action, "{situation}");
    }
}

#[test]
fn a_notice_teaches_and_says_the_same_as_long_as_it_stands() {
    let now = Instant::now();
    let written = |entry: &Entry| match decide("dns", entry, &LabelPrefix::default(), now) {
        Action::Status(draft) => draft.status,
        other => panic!("{other:?}"),
    };
    let mut entry = Entry { wish: Wish::Gone { since: time(900) }, ..Entry::default() };
    entry.live = live(&addon("dns", "dns", false, 1, Some(status("Healthy"))));
    let notice = written(&entry);
    assert!(notice.message.contains("kubectl label KIND NAME addons.x-k8s.io/dns="), "{}", notice.message);
    assert_eq!(notice.conditions[0].last_transition_time, Time(time(900)));
    // After a restart the same is said at another time, and the object tells since when.
    entry.wish = Wish::Gone { since: time(5000) };
    entry.live = live(&addon("dns", "dns", false, 2, Some(notice)));
    assert_eq!(decided(&entry, now), "nothing");

    entry.live = live(&addon("dns", "My_Addon", false, 1, None));
    let notice = written(&entry);
    assert!(notice.message.contains("my-addon-x"), "{}", notice.message);
    assert_eq!(notice.conditions[0].last_transition_time, Time(time(50)), "since it was created");
}
