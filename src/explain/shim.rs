#[derive(Default)]
pub struct Rules {
    pub rows: Vec<(String, String, CauseRule)>,
}
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct CauseRule {
    pub group: String,
    pub kind: Option<String>,
    pub at: Option<String>,
    pub owned: bool,
    pub labels: std::collections::BTreeMap<String, String>,
    pub named: bool,
}
impl Rules {
    pub fn causes<'a>(&'a self, group: &'a str, kind: &'a str) -> impl Iterator<Item = &'a CauseRule> {
        self.rows.iter().filter(move |(g, k, _)| g == group && k == kind).map(|(_, _, r)| r)
    }
    pub fn judge(&self, object: &crate::model::Object) -> crate::health::Judgement {
        crate::health::judge(object)
    }
}
