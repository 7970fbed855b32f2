// The list of all add-ons, or one of them where the address names one. All that comes from the
// cluster is set as text, never as markup.
"use strict";
(() => {
  const API = "/api/v1alpha1/addons";
  const EVERY_MS = 5000;
  const NO_ANSWER_MS = 10000;
  const QUIET_SECONDS = 60;
  const ROWS_AT_FIRST = 200;
  // Worst first, each with a shape of its own.
  const GLYPHS = new Map([
    ["Degraded", "\u25b2"],
    ["Unknown", "?"],
    ["Progressing", "\u25d0"],
    ["Terminating", "\u25bd"],
    ["Suspended", "\u25a0"],
    ["Healthy", "\u25cf"],
  ]);

  const at = (id) => document.getElementById(id);
  const list = (value) => (Array.isArray(value) ? value : []);
  const text = (value) => (value === undefined || value === null ? "" : String(value));
  const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

  const asked = nameInAddress();
  at("back").hidden = asked === null;
  const source = asked === null ? API : `${API}/${encodeURIComponent(asked)}`;
  const query = new URLSearchParams(location.search);

  let etag = null;
  let lastAnswer = null;
  let items = [];
  let shownRows = ROWS_AT_FIRST;
  let wantedHealth = GLYPHS.has(query.get("health")) ? query.get("health") : "";
  const rows = new Map();

  function nameInAddress() {
    const match = /^\/addons\/([^/]+)$/.exec(location.pathname);
    if (!match) return null;
    try {
      return decodeURIComponent(match[1]);
    } catch {
      return match[1];
    }
  }

  // Building blocks

  function put(node, value) {
    const wanted = text(value);
    if (node.textContent !== wanted) node.textContent = wanted;
  }

  function element(tag, className, ...children) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...children);
    return node;
  }

  function healthBadge(word) {
    const known = GLYPHS.has(word) ? word : "Unknown";
    const glyph = element("span", "glyph", GLYPHS.get(known));
    glyph.setAttribute("aria-hidden", "true");
    const badge = element("span", "health", glyph, ` ${text(word) || "Unknown"}`);
    badge.dataset.health = known;
    return badge;
  }

  function ago(iso) {
    const node = element("time");
    const then = Date.parse(iso);
    if (Number.isNaN(then)) return node;
    node.dateTime = text(iso);
    node.title = new Date(then).toLocaleString();
    tickOne(node);
    return node;
  }

  function tickOne(node) {
    const seconds = Math.max(0, Math.round((Date.now() - Date.parse(node.dateTime)) / 1000));
    const [size, unit] = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]].find(([size]) => seconds >= 2 * size) || [1, "s"];
    put(node, `${Math.floor(seconds / size)} ${unit}`);
  }

  function cell(className, head, ...children) {
    const node = element("td", className, ...children);
    node.setAttribute("role", "cell");
    node.dataset.head = head;
    return node;
  }

  function row(...cells) {
    const node = element("tr", "", ...cells);
    node.setAttribute("role", "row");
    return node;
  }

  function headCell(head) {
    const node = element("th", "", head);
    node.scope = "col";
    node.setAttribute("role", "columnheader");
    return node;
  }

  function table(heads, lines) {
    const head = element("thead", "", row(...heads.map(headCell)));
    const body = element("tbody", "", ...lines.map((line) => row(...line.map((part, i) => cell("", heads[i], part)))));
    for (const group of [head, body]) group.setAttribute("role", "rowgroup");
    const node = element("table", "", head, body);
    node.setAttribute("role", "table");
    return node;
  }

  function titled(title, node) {
    return [element("h2", "", title), node];
  }

  function because(what) {
    const parts = [];
    if (what.reason) parts.push(element("div", "reason", text(what.reason)));
    if (what.message) parts.push(element("div", "message", text(what.message)));
    return parts;
  }

  // What a shell takes as it is; anything else is quoted, for the command is there to be copied.
  function quoted(word) {
    return /^[A-Za-z0-9][A-Za-z0-9._:@-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  }

  function kubectlGet(resource, group, namespace, name) {
    const full = group ? `${resource}.${group}` : resource;
    const where = namespace ? ` -n ${quoted(namespace)}` : "";
    return `kubectl get ${quoted(full)}${where} -o yaml ${name.startsWith("-") ? "-- " : ""}${quoted(name)}`;
  }

  // One line an add-on, or a component

  function addonRow(addon) {
    const status = addon.status || {};
    const identifier = text(addon.spec && addon.spec.identifier) || text(addon.metadata && addon.metadata.name);
    const ready = list(status.conditions).find((condition) => condition.type === "Ready");
    const link = element("a", "", identifier);
    link.href = `/addons/${encodeURIComponent(identifier)}`;
    const cells = () => [
      cell("health-cell", "Health", healthBadge(status.health)),
      cell("name", "Add-on", link),
      cell("ready", "Ready", text(status.ready)),
      cell("why", "Why", ...(status.health === "Healthy" ? [] : because(status))),
      cell("since", "Since", ready ? ago(ready.lastTransitionTime) : ""),
    ];
    const installs = list(status.installs).map((install) => text(install.name));
    return {
      key: identifier,
      health: text(status.health),
      words: [identifier, status.health, status.reason, status.message, status.version, ...installs],
      cells,
    };
  }

  function componentRow(component) {
    const group = text(component.group);
    const where = component.namespace ? `${component.namespace}/` : "";
    const kind = element("div", "kind", group ? `${component.kind}.${group}` : text(component.kind));
    const cells = () => {
      const why = because(component);
      if (component.cause) {
        const cause = component.cause;
        const place = cause.namespace ? `${cause.namespace}/` : "";
        const name = element("div", "", `${text(cause.kind)} ${place}${text(cause.name)}`);
        why.push(element("div", "cause", name, ...because(cause)));
      }
      if (component.importance === "informational") why.push(element("div", "message", "Informational: doesn't count"));
      if (component.importance === "spare") why.push(element("div", "message", "Spare: enough others are healthy"));
      if (component.flapping) why.push(element("div", "message", `Flapping: ${component.flapping.changes} changes until ${component.flapping.last}`));
      why.push(more(component));
      return [
        cell("health-cell", "Health", healthBadge(component.health)),
        cell("name", "Component", kind, element("strong", "", `${where}${text(component.name)}`)),
        cell("install", "Install", text(component.install)),
        cell("why", "Why", ...why),
        cell("since", "Since", component.since ? ago(component.since) : ""),
      ];
    };
    return {
      key: [group, component.kind, component.namespace, component.name, component.uid].join("\n"),
      health: text(component.health),
      words: [component.kind, group, component.namespace, component.name, component.install, component.health,
        component.reason, component.message],
      cells,
    };
  }

  function more(component) {
    const conditions = list(component.conditions);
    const label = conditions.length === 0 ? "More" : plural(conditions.length, "condition");
    const node = element("details", "", element("summary", "", label));
    // Filled when it is opened: a large add-on has thousands of these.
    node.addEventListener("toggle", () => {
      if (!node.open || node.children.length > 1) return;
      if (conditions.length > 0) node.append(conditionTable(conditions));
      const command = kubectlGet(text(component.resource), text(component.group), text(component.namespace), text(component.name));
      node.append(element("p", "", `Judged by ${text(component.rule)}.`), element("code", "", command));
    });
    return node;
  }

  function conditionTable(conditions) {
    return table(["Condition", "Status", "Why", "Since"], conditions.map((condition) => [
      text(condition.type),
      text(condition.status),
      [text(condition.reason), text(condition.message)].filter(Boolean).join(": "),
      condition.lastTransitionTime ? ago(condition.lastTransitionTime) : "",
    ]));
  }

  // Drawing

  function matches(item, words) {
    if (wantedHealth && item.health !== wantedHealth) return false;
    if (words.length === 0) return true;
    const hay = item.words.map(text).join("\n").toLowerCase();
    return words.every((word) => hay.includes(word));
  }

  function drawRows() {
    const words = at("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = items.filter((item) => matches(item, words));
    const shown = matching.slice(0, shownRows);
    const focused = document.activeElement;
    const body = at("body");
    const keep = new Set(shown.map((item) => item.key));
    for (const [key, old] of rows) {
      if (!keep.has(key)) {
        old.node.remove();
        rows.delete(key);
      }
    }
    shown.forEach((item, i) => {
      let drawn = rows.get(item.key);
      if (!drawn) {
        drawn = { node: row(), content: null };
        rows.set(item.key, drawn);
      }
      if (drawn.content !== item.content) {
        const open = drawn.node.querySelector("details[open]") !== null;
        drawn.node.replaceChildren(...item.cells());
        drawn.content = item.content;
        if (open) drawn.node.querySelector("details").open = true;
      }
      if (body.children[i] !== drawn.node) body.insertBefore(drawn.node, body.children[i] || null);
    });
    if (focused && focused !== document.activeElement && focused.isConnected) focused.focus();

    at("rows").hidden = shown.length === 0;
    at("none").hidden = items.length === 0 || matching.length > 0;
    put(at("none"), "Nothing matches the filter.");
    at("more").hidden = matching.length <= shown.length;
    put(at("more"), `Show ${Math.min(ROWS_AT_FIRST * 5, matching.length - shown.length)} more of ${matching.length}`);
  }

  function drawWords() {
    const counts = new Map();
    for (const item of items) {
      const word = GLYPHS.has(item.health) ? item.health : "Unknown";
      counts.set(word, (counts.get(word) || 0) + 1);
    }
    if (wantedHealth && !counts.has(wantedHealth)) counts.set(wantedHealth, 0);
    const words = [...GLYPHS.keys()].filter((word) => counts.has(word));
    const box = at("words");
    const shape = words.join();
    if (box.dataset.shape !== shape) {
      box.dataset.shape = shape;
      const focused = document.activeElement && document.activeElement.dataset.word;
      box.replaceChildren(...words.map((word) => {
        const button = element("button", "", healthBadge(word), " ", element("span", "count"));
        button.type = "button";
        button.dataset.word = word;
        button.addEventListener("click", () => {
          wantedHealth = wantedHealth === word ? "" : word;
          changed();
        });
        return button;
      }));
      for (const button of box.children) if (button.dataset.word === focused) button.focus();
    }
    for (const button of box.children) {
      put(button.querySelector(".count"), counts.get(button.dataset.word));
      button.setAttribute("aria-pressed", String(button.dataset.word === wantedHealth));
    }
  }

  function setItems(drawable, answered) {
    items = answered.map((raw) => Object.assign(drawable(raw), { content: JSON.stringify(raw) }));
    at("search").hidden = items.length === 0;
    drawWords();
    drawRows();
  }

  function setHeads(heads) {
    if (at("heads").children.length === 0) at("heads").append(...heads.map(headCell));
  }

  function drawList(answer) {
    setHeads(["Health", "Add-on", "Ready", "Why", "Since"]);
    setItems(addonRow, list(answer.items));
    const bad = items.filter((item) => item.health === "Degraded").length;
    const well = items.filter((item) => item.health === "Healthy" || item.health === "Suspended").length;
    put(at("headline"), items.length === 0
      ? "No add-on yet: no object that can be seen carries the label."
      : well === items.length ? `All is well: ${plural(items.length, "add-on")}.`
        : `${items.length - well} of ${plural(items.length, "add-on")} need${items.length - well === 1 ? "s" : ""} a look.`);
    document.title = bad > 0 ? `(${bad}) Add-ons` : "Add-ons";
    drawCoverage(answer.coverage || {});
  }

  function drawOne(addon) {
    const status = addon.status || {};
    const name = text(addon.metadata && addon.metadata.name);
    const identifier = text(addon.spec && addon.spec.identifier) || name;
    at("about").hidden = false;
    put(at("name"), identifier);
    at("health").replaceChildren(healthBadge(status.health));
    at("why").replaceChildren(...because(status));
    const ready = list(status.conditions).find((condition) => condition.type === "Ready");
    const figures = [["Ready", text(status.ready)]];
    if (ready) figures.push([ready.status === "True" ? "Ready for" : "Not ready for", ago(ready.lastTransitionTime)]);
    if (status.version) figures.push(["Version", text(status.version)]);
    if (name !== identifier) figures.push(["Object", name]);
    at("figures").replaceChildren(...figures.map(([term, value]) =>
      element("div", "", element("dt", "", term), element("dd", "", value))));
    put(at("command"), kubectlGet("addons", "addons.x-k8s.io", "", name));
    const installs = list(status.installs);
    at("installs").replaceChildren(...(installs.length === 0 ? [] : titled("Installs", table(["Install", "Health", "Ready"],
      installs.map((install) => [text(install.name) || "(none)", healthBadge(install.health), text(install.ready)])))));
    const facts = list(status.facts);
    at("facts").replaceChildren(...(facts.length === 0 ? [] : titled("Facts", table(["Fact", "Value"],
      facts.map((fact) => [text(fact.name), text(fact.value)])))));
    const conditions = list(status.conditions);
    at("conditions").replaceChildren(...(conditions.length === 0 ? [] : [conditionTable(conditions)]));
    setHeads(["Health", "Component", installs.length === 0 ? "" : "Install", "Why", "Since"]);
    setItems(componentRow, list(status.components));
    put(at("headline"), items.length === 0 ? "No component." : "");
    document.title = `${identifier}: ${text(status.health)}`;
  }

  function drawMissing() {
    etag = null;
    at("about").hidden = true;
    put(at("headline"), `There is no add-on \u201c${asked.slice(0, 253)}\u201d: no object carries its label, or none was seen yet.`);
    setItems(componentRow, []);
    document.title = "No such add-on";
  }

  function drawCoverage(coverage) {
    const gaps = list(coverage.gaps);
    at("coverage").hidden = gaps.length === 0;
    at("gaps").replaceChildren(table(["Kind", "State", "Why", "Known objects"], gaps.map((gap) => [
      gap.group ? `${text(gap.kind)}.${text(gap.group)}` : text(gap.kind),
      text(gap.state),
      text(gap.message),
      text(gap.components),
    ])));
    const kinds = Object.values(coverage.kinds || {}).reduce((sum, count) => sum + count, 0);
    const syncing = gaps.filter((gap) => gap.state === "syncing").length;
    const blind = gaps.length - syncing;
    notices.syncing = kinds === 0 ? "The controller doesn't watch any kind yet: add-ons will appear."
      : syncing > 0 ? `${syncing} of ${plural(kinds, "kind")} ${syncing === 1 ? "is" : "are"} still being listed: what is shown isn't whole yet.` : "";
    notices.blind = blind > 0 ? `${blind} of ${plural(kinds, "kind")} can't be seen.` : "";
  }

  const notices = { reach: "", heartbeat: "", syncing: "", blind: "" };

  function drawNotices() {
    for (const [name, notice] of Object.entries(notices)) {
      put(at(`notice-${name}`).querySelector("span"), notice);
      at(`notice-${name}`).hidden = notice === "";
    }
  }

  // Asking

  async function ask() {
    const response = await fetch(source, {
      headers: etag ? { "If-None-Match": etag } : {},
      cache: "no-store",
      signal: AbortSignal.timeout(NO_ANSWER_MS),
    });
    if (response.status === 404 && asked !== null) {
      drawMissing();
    } else if (response.status === 200) {
      const answer = await response.json();
      (asked === null ? drawList : drawOne)(answer);
      etag = response.headers.get("ETag");
    } else if (response.status !== 304) {
      throw new Error(`it answered ${response.status}`);
    }
    lastAnswer = new Date();
    const age = Number(response.headers.get("Addons-Heartbeat-Age"));
    notices.heartbeat = age > QUIET_SECONDS
      ? `The controller hasn't looked at the cluster for ${age} s: what is shown may be old.` : "";
    notices.reach = "";
  }

  async function poll() {
    try {
      await ask();
    } catch (error) {
      const why = error.name === "TimeoutError" ? "it doesn't answer" : error.message;
      const shown = lastAnswer ? ` What is shown is from ${lastAnswer.toLocaleTimeString()}.` : "";
      notices.reach = `The controller can't be reached (${why}).${shown}`;
    }
    put(at("as-of"), lastAnswer ? `as of ${lastAnswer.toLocaleTimeString()}` : "");
    for (const node of document.querySelectorAll("time")) if (node.dateTime) tickOne(node);
    drawNotices();
  }

  let timer = null;

  async function keepPolling() {
    clearTimeout(timer);
    timer = null;
    await poll();
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(keepPolling, EVERY_MS);
  }

  function changed() {
    shownRows = ROWS_AT_FIRST;
    const kept = new URLSearchParams();
    if (at("filter").value) kept.set("q", at("filter").value);
    if (wantedHealth) kept.set("health", wantedHealth);
    history.replaceState(null, "", kept.size > 0 ? `?${kept}` : location.pathname);
    drawWords();
    drawRows();
  }

  at("filter").value = query.get("q") || "";
  at("filter").addEventListener("input", changed);
  at("more").addEventListener("click", () => {
    shownRows += ROWS_AT_FIRST * 5;
    drawRows();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && timer === null) keepPolling();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== at("filter") && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      at("filter").focus();
    }
  });
  keepPolling();
})();
