"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const picture = document.getElementById("picture");
const search = document.getElementById("search");
const details = document.getElementById("details");
const pen = picture.getContext("2d");

const nodes = [
  ...data.notes.map((note) => ({ kind: "note", id: "note:" + note.path, name: note.path.replace(/\.md$/, ""), weight: note.turns, about: note })),
  ...data.talks.map((talk) => ({ kind: "talk", id: "talk:" + talk.session_id, name: talk.title || "(untitled)", weight: talk.notes, about: talk })),
];
const byId = new Map(nodes.map((node) => [node.id, node]));
for (const node of nodes) {
  node.near = [];
  node.radius = 4 + Math.min(12, 2 * Math.sqrt(node.weight));
}
const lines = data.lines.map((line) => [byId.get("note:" + line.path), byId.get("talk:" + line.session_id), line.turns]);
for (const [note, talk, turns] of lines) {
  note.near.push([talk, turns]);
  talk.near.push([note, turns]);
}

/* Where everything stands: computed once, in a bounded number of steps, the same for the same data. */
function layOut() {
  const space = 42;
  nodes.filter((node) => node.kind === "talk").forEach((talk, place) => {
    const distance = 1.4 * space * Math.sqrt(place + 1), angle = place * 2.399963;
    talk.x = distance * Math.cos(angle);
    talk.y = distance * Math.sin(angle);
  });
  nodes.filter((node) => node.kind === "note").forEach((note, place) => {
    const middle = (axis) => note.near.reduce((sum, [talk]) => sum + talk[axis], 0) / (note.near.length || 1);
    note.x = middle("x") + space * Math.cos(place * 2.399963);
    note.y = middle("y") + space * Math.sin(place * 2.399963);
  });
  const steps = Math.max(30, Math.min(250, Math.round(80000 / (nodes.length + 1))));
  for (let step = 0; step < steps; step += 1) move(space, 1 - step / steps);
}

function move(space, heat) {
  const cells = new Map(), size = 2 * space;
  for (const node of nodes) {
    node.dx = -0.01 * node.x;
    node.dy = -0.01 * node.y;
    const cell = cellAt(Math.floor(node.x / size), Math.floor(node.y / size));
    if (cells.has(cell)) cells.get(cell).push(node); else cells.set(cell, [node]);
  }
  for (const node of nodes) {
    const column = Math.floor(node.x / size), row = Math.floor(node.y / size);
    for (let i = column - 1; i <= column + 1; i += 1) {
      for (let j = row - 1; j <= row + 1; j += 1) {
        for (const other of cells.get(cellAt(i, j)) || []) push(node, other, space);
      }
    }
  }
  for (const [note, talk] of lines) {
    const x = talk.x - note.x, y = talk.y - note.y, pull = 0.06 / Math.sqrt(1 + Math.min(note.near.length, talk.near.length));
    note.dx += pull * x; note.dy += pull * y;
    talk.dx -= pull * x; talk.dy -= pull * y;
  }
  for (const node of nodes) {
    const length = Math.hypot(node.dx, node.dy) || 1, reach = Math.min(length, space * heat + 1);
    node.x += (node.dx / length) * reach;
    node.y += (node.dy / length) * reach;
  }
}

function cellAt(column, row) {
  return 65536 * column + row;
}

function push(node, other, space) {
  if (node === other) return;
  const x = node.x - other.x, y = node.y - other.y, square = x * x + y * y + 0.01;
  if (square > 4 * space * space) return;
  const force = (space * space) / square;
  node.dx += x * force * 0.5;
  node.dy += y * force * 0.5;
}

/* What is seen: the middle of the picture, and how large. */
const view = { x: 0, y: 0, scale: 1 };
let chosen = null, found = new Set(), waiting = false;

function fit() {
  const xs = nodes.map((node) => node.x), ys = nodes.map((node) => node.y);
  const low = (values) => values.reduce((a, b) => Math.min(a, b), 0), high = (values) => values.reduce((a, b) => Math.max(a, b), 0);
  const wide = high(xs) - low(xs) + 120, tall = high(ys) - low(ys) + 120;
  view.x = (low(xs) + high(xs)) / 2;
  view.y = (low(ys) + high(ys)) / 2;
  view.scale = Math.min(2, picture.clientWidth / wide, picture.clientHeight / tall) || 1;
}

/* The place of a node inside the canvas, in CSS pixels. */
function placeOf(node) {
  return [(node.x - view.x) * view.scale + picture.clientWidth / 2, (node.y - view.y) * view.scale + picture.clientHeight / 2];
}

function nodeAt(x, y) {
  let best = null, nearest = Infinity;
  for (const node of nodes) {
    const [nodeX, nodeY] = placeOf(node), distance = Math.hypot(nodeX - x, nodeY - y);
    if (distance < nearest && distance <= Math.max(10, node.radius * view.scale + 3)) [best, nearest] = [node, distance];
  }
  return best;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

function draw() {
  waiting = false;
  const sharpness = window.devicePixelRatio || 1;
  picture.width = Math.round(picture.clientWidth * sharpness);
  picture.height = Math.round(picture.clientHeight * sharpness);
  pen.setTransform(sharpness, 0, 0, sharpness, 0, 0);
  const colours = { note: colour("note"), talk: colour("talk"), chosen: colour("chosen"), ink: colour("ink"), line: colour("line") };
  const near = new Set(chosen ? [chosen, ...chosen.near.map(([node]) => node)] : []);
  const apart = chosen !== null || found.size > 0;
  pen.lineWidth = 1;
  const ofChosen = ([note, talk]) => chosen !== null && (note === chosen || talk === chosen);
  connect(lines.filter((line) => !ofChosen(line)), colours.line, apart ? 0.25 : 0.7);
  connect(lines.filter(ofChosen), colours.chosen, 1);
  const scale = Math.max(0.35, Math.min(1.5, view.scale));
  for (const node of nodes) {
    const [x, y] = placeOf(node), size = node.radius * scale, bright = near.has(node) || found.has(node);
    pen.globalAlpha = !apart || bright ? 1 : 0.2;
    pen.fillStyle = node === chosen ? colours.chosen : colours[node.kind];
    pen.beginPath();
    if (node.kind === "note") pen.arc(x, y, size, 0, 2 * Math.PI); else pen.rect(x - size, y - size, 2 * size, 2 * size);
    pen.fill();
  }
  label(near, colours, scale);
}

/* All lines of one colour in one stroke: one by one they would take ten times as long. */
function connect(some, colour, strength) {
  pen.globalAlpha = strength;
  pen.strokeStyle = colour;
  pen.beginPath();
  for (const [note, talk] of some) {
    pen.moveTo(...placeOf(note));
    pen.lineTo(...placeOf(talk));
  }
  pen.stroke();
}

function label(near, colours, scale) {
  const named = near.size ? [...near] : found.size ? [...found] : nodes.filter((node) => node.radius * view.scale > 7);
  pen.globalAlpha = 1;
  pen.fillStyle = colours.ink;
  pen.font = "12px system-ui, sans-serif";
  for (const node of named.slice(0, 150)) {
    const [x, y] = placeOf(node), name = [...node.name];
    pen.fillText(name.length > 40 ? name.slice(0, 39).join("") + "…" : node.name, x + node.radius * scale + 3, y + 4);
  }
}

function drawSoon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(draw);
}

/* Text of notes goes into the page as text, never as markup. */
function element(name, text, attributes) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  return made;
}

function button(node, remark) {
  const made = element("button", node.name + (remark || ""), { type: "button", class: node.kind, "data-id": node.id });
  made.addEventListener("click", () => choose(node));
  return made;
}

function times(count) {
  return count === 1 ? "1 time" : count + " times";
}

function choose(node) {
  chosen = node;
  for (const shown of document.querySelectorAll("nav button")) shown.setAttribute("aria-current", String(node !== null && shown.dataset.id === node.id));
  details.replaceChildren();
  if (node) describe(node);
  drawSoon();
}

function describe(node) {
  details.append(element("h2", node.name));
  const day = node.about.last_used.slice(0, 10);
  if (node.kind === "note") {
    const talks = node.about.sessions === 1 ? "1 conversation" : node.about.sessions + " conversations";
    details.append(element("p", node.about.path + (node.about.is_gone ? " (not there any more)" : "")), element("p", "Used " + times(node.about.turns) + " in " + talks + ", last on " + day + "."));
  } else {
    const command = element("p", "To read it: ");
    command.append(element("code", "zkchat sessions show " + node.about.session_id));
    details.append(element("p", "Used " + (node.about.notes === 1 ? "1 note" : node.about.notes + " notes") + ", last on " + day + "."), command);
  }
  const list = element("ul");
  for (const [other, turns] of node.near.slice().sort((a, b) => b[1] - a[1])) {
    const row = element("li");
    row.append(button(other, turns > 1 ? " (" + times(turns) + ")" : ""));
    list.append(row);
  }
  details.append(list);
}

function look() {
  const wanted = search.value.trim().toLowerCase();
  found = new Set(wanted ? nodes.filter((node) => (node.id + " " + node.name).toLowerCase().includes(wanted)) : []);
  for (const row of document.querySelectorAll("nav li")) row.hidden = wanted !== "" && !found.has(byId.get(row.firstChild.dataset.id));
  document.getElementById("matches").textContent = wanted ? found.size + " found" : "";
  drawSoon();
}

function zoom(factor, x, y) {
  const left = x - picture.clientWidth / 2, top = y - picture.clientHeight / 2;
  const scale = Math.max(0.02, Math.min(8, view.scale * factor));
  view.x += left / view.scale - left / scale;
  view.y += top / view.scale - top / scale;
  view.scale = scale;
  drawSoon();
}

function listen() {
  let from = null, moved = 0;
  picture.addEventListener("pointerdown", (event) => { from = [event.offsetX, event.offsetY]; moved = 0; picture.setPointerCapture(event.pointerId); });
  picture.addEventListener("pointermove", (event) => {
    if (!from) { picture.title = (nodeAt(event.offsetX, event.offsetY) || { name: "" }).name; return; }
    const x = event.offsetX - from[0], y = event.offsetY - from[1];
    moved += Math.abs(x) + Math.abs(y);
    view.x -= x / view.scale;
    view.y -= y / view.scale;
    from = [event.offsetX, event.offsetY];
    drawSoon();
  });
  picture.addEventListener("pointerup", (event) => { if (from && moved < 6) choose(nodeAt(event.offsetX, event.offsetY)); from = null; });
  picture.addEventListener("pointercancel", () => { from = null; });
  picture.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY); }, { passive: false });
  picture.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60] };
    if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.25 : 0.8, picture.clientWidth / 2, picture.clientHeight / 2);
    else if (event.key === "Escape") choose(null);
    else if (steps[event.key]) { view.x += steps[event.key][0] / view.scale; view.y += steps[event.key][1] / view.scale; drawSoon(); }
    else return;
    event.preventDefault();
  });
  search.addEventListener("input", look);
  search.addEventListener("keydown", (event) => { if (event.key === "Enter" && found.size) choose(found.values().next().value); });
  window.addEventListener("resize", drawSoon);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawSoon);
}

function fill() {
  for (const [id, kind] of [["notes", "note"], ["talks", "talk"]]) {
    const rows = nodes.filter((node) => node.kind === kind).map((node) => { const row = element("li"); row.append(button(node)); return row; });
    document.getElementById(id).append(...rows);
  }
  const more = data.left_out ? "; " + data.left_out + " less used are not shown" : "";
  document.getElementById("counts").textContent = data.notes.length + " notes, " + data.talks.length + " conversations" + more;
}

const begun = performance.now();
layOut();
fit();
fill();
listen();
draw();
picture.dataset.ready = Math.round(performance.now() - begun);
