// Renews the figures of the page by the events of /events. Texts of hosts, users and peers are hostile: textContent alone.

const find = (selector) => document.querySelector(selector);
const figures = new Map();   // data-stat → its elements outside of lists
for (const element of document.querySelectorAll("[data-stat]")) {
  if (element.closest("table[data-list]")) continue;
  const stat = element.dataset.stat;
  figures.set(stat, [...(figures.get(stat) || []), element]);
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function writeCell(cell, heading, path, index, content, link) {
  const text = textOf(content), value = Array.isArray(content) ? content[1] : content;
  let place = cell;
  if (heading && link) {
    if (!cell.querySelector("a")) cell.replaceChildren(document.createElement("a"));
    place = cell.firstChild;
    if (place.getAttribute("href") !== link) place.setAttribute("href", link);
  }
  write(place, text);
  if (!path) return;
  cell.dataset.stat = path.replace("*", index);
  cell.dataset.value = value;
}

function newRow(body, columns) {
  const row = body.insertRow();
  columns.forEach((column, i) => {
    const cell = row.appendChild(document.createElement(i === 0 ? "th" : "td"));
    if (i === 0) cell.scope = "row";
    if (column.className) cell.className = column.className;
  });
  return row;
}

function textOf(cell) {
  return Array.isArray(cell) ? cell[0] : cell;
}

function linkOf(table, cells) {
  const { why, kind = "" } = table.dataset;
  return why ? "/?url=" + encodeURIComponent(kind + textOf(cells[why])) + "#explanation" : "";
}

// Rows are renewed in place, so that a link keeps the focus.
function writeRows(id, rows) {
  const table = document.getElementById(id);
  if (!table) return showMore();
  const columns = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  while (body.rows.length > rows.length) body.deleteRow(-1);
  rows.forEach(([index, trouble, cells], i) => {
    const link = linkOf(table, cells);
    const row = body.rows[i] || newRow(body, columns);
    row.className = trouble ? "trouble" : "";
    columns.forEach((column, j) => writeCell(row.cells[j], j === 0, column.dataset.path, index, cells[j] ?? "", link));
  });
  document.getElementById(id + "-none").hidden = rows.length > 0;
}

function writeHealth([state, items]) {
  find("#health").dataset.state = state;
  document.title = state === "ok" ? "Garner" : "Garner: " + state;
  const list = find("#health ul");
  while (list.children.length > items.length) list.lastElementChild.remove();
  items.forEach((item, i) => writeProblem(list.children[i] || list.appendChild(document.createElement("li")), item));
}

// Renewed in place as well: its link may have the focus while its numbers change.
function writeProblem(item, [what, fix, section, title]) {
  const parts = [["strong", what && what + ": "], ["span", title ? fix + ": " : fix], ["a", title]].filter(([, text]) => text);
  const kinds = parts.map(([kind]) => kind);
  if (kinds.join() !== [...item.children].map((part) => part.localName).join())
    item.replaceChildren(...kinds.map((kind) => document.createElement(kind)));
  parts.forEach(([, text], i) => write(item.children[i], text));
  if (title) item.lastElementChild.setAttribute("href", "#" + section);
}

function writeFigure(stat, [text, value = text]) {
  const elements = figures.get(stat);
  if (!elements) return showMore();
  for (const element of elements) {
    write(element, text);
    element.dataset.value = value;
  }
}

// A line is trouble if its figures are among these.
function writeTroubles(stats) {
  for (const [stat, elements] of figures)
    for (const element of elements) element.closest("tr")?.classList.toggle("trouble", stats.includes(stat));
}

function writeCurve(id, path) {
  document.getElementById(id)?.setAttribute("d", path);
}

function writeWords(id, text) {
  const element = document.getElementById(id);
  if (element) write(element, text);
}

// The page has been loaded before the part that this figure belongs to.
function showMore() {
  find("#more").hidden = false;
}

const writers = {
  f: writeFigure, t: writeRows, c: writeCurve, w: writeWords,
  h: (_, health) => writeHealth(health), l: (_, stats) => writeTroubles(stats),
};

let source = null, paused = false, retry = 0;

function connect() {
  disconnect();
  if (paused || document.hidden) return;
  source = new EventSource("/events");
  source.onmessage = (event) => {
    for (const [key, part] of Object.entries(JSON.parse(event.data))) writers[key[0]]?.(key.slice(2), part);
    write(find("#live"), "live");
  };
  source.onerror = () => {
    write(find("#live"), "not updated: no connection");
    if (source?.readyState === EventSource.CLOSED) retry = setTimeout(connect, 5000);
  };
}

function disconnect() {
  clearTimeout(retry);
  source?.close();
  source = null;
}

document.addEventListener("visibilitychange", connect);
addEventListener("pagehide", disconnect);

const pause = find("#pause");
pause.hidden = false;
pause.addEventListener("click", () => {
  paused = !paused;
  pause.textContent = paused ? "Resume updates" : "Pause updates";
  if (paused) write(find("#live"), "paused");
  connect();
});

// ---- explanations ----

function explained(answer) {
  const heading = document.createElement("h2"), list = document.createElement("dl");
  heading.textContent = answer.title;
  heading.tabIndex = -1;
  for (const [subject, text] of answer.lines)
    for (const [kind, content] of [["dt", subject], ["dd", text]]) {
      if (!content) continue;
      list.append(document.createElement(kind));
      list.lastChild.textContent = content;
    }
  return [heading, list];
}

find("#explain").addEventListener("submit", async (event) => {
  event.preventDefault();
  const url = find("#url").value.trim(), query = "?url=" + encodeURIComponent(url);
  if (!url) return;
  let answer = { title: "No answer", lines: [["error", "Garner did not answer; try again."]] };
  try {
    const reply = await fetch("/explanation" + query, { headers: { "Garner-Admin": "1" } });
    if (reply.ok) answer = await reply.json();
    else answer.lines = [["error", await reply.text()]];
  } catch (error) { /* the answer says it */ }
  const place = find("#explanation");
  place.replaceChildren(...explained(answer));
  place.firstChild.focus();
  history.replaceState(null, "", "/" + query);
});

// ---- keys ----

const keys = find("#keys");
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || keys.open || event.target.closest("input")) return;
  if (event.key === "/") {
    event.preventDefault();
    find("#url").focus();
    find("#url").select();
  }
  if (event.key === "?") keys.showModal();
});

connect();
