// Wires the page together: conversations, chat and note, what happens elsewhere, drawers and keys.
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { byId, get, make } from "./dom.js";
import { NotePanel } from "./note.js";

const GLANCE = 120; // milliseconds that a pointer rests on a source
const EXAMPLES = [
  ["What did I write last week?", "Ask in your own words"],
  ["Summarise [[", "Name a note: type [["],
  ["/today", "See open tasks and changes"],
];
const OWN_COMMANDS = [
  { name: "new", arguments: "", help: "a new conversation" },
  { name: "resume", arguments: "", help: "choose a conversation" },
  { name: "help", arguments: "[NAME]", help: "what you can do" },
];
const drawers = { left: matchMedia("(max-width: 759px)"), right: matchMedia("(max-width: 1099px)") };

let sessions = [];
const note = new NotePanel();
const chat = new Chat(({ id }) => {
  if (addressed("session") !== id) history.replaceState(null, "", addressOf(id));
  listSessions();
});
const composer = new Composer((text) => {
  if (/^\/new\b/.test(text)) begin();
  else if (/^\/(resume|sessions)\b/.test(text)) open("left").then(() => byId("search").focus());
  else chat.ask(text);
});

function problem(error) {
  byId("problem").textContent = error.words ?? String(error);
  byId("problem").hidden = false;
}
// Conversations
async function listSessions() {
  try {
    sessions = await get("/api/sessions");
    byId("problem").hidden = true;
  } catch (error) {
    problem(error);
  }
  showSessions();
}

function showSessions() {
  const wanted = byId("search").value.trim().toLowerCase();
  const titled = sessions.map((each) => [each.title || each.first_words || "Without a title", each]);
  const fits = titled.filter(([title]) => title.toLowerCase().includes(wanted));
  const focused = document.activeElement?.dataset?.session;
  const rows = fits.map(([title, { id, updated_at: at }]) => {
    const link = make("a", { href: addressOf(id), dataset: { session: id } });
    link.append(make("span", { dir: "auto" }, title), make("time", { dateTime: at }, dayOf(new Date(at))));
    if (id === chat.id) link.setAttribute("aria-current", "page");
    return make("li", {}, link);
  });
  byId("sessions").replaceChildren(...rows);
  if (focused) byId("sessions").querySelector(`[data-session="${CSS.escape(focused)}"]`)?.focus();
  byId("none").hidden = rows.length > 0;
  byId("none").textContent = wanted ? "No title has these words." : "Your conversations will be listed here.";
}

function dayOf(date) {
  const isToday = date.toDateString() === new Date().toDateString();
  if (isToday) return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return date.toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
}

const addressOf = (session) => `?${new URLSearchParams({ session })}`;
const addressed = (name) => new URLSearchParams(location.search).get(name) ?? "";

async function follow() {
  const id = addressed("session");
  if (addressed("note")) {
    note.open(addressed("note"));
  } else if (id !== chat.id) {
    await (id ? chat.resume(id).catch(problem) : chat.begin());
    showSessions();
  }
}

function begin() {
  history.pushState(null, "", "/");
  chat.begin();
  showSessions();
  close();
  byId("message").focus();
}

byId("new").addEventListener("click", begin);
byId("search").addEventListener("input", showSessions);
byId("sessions").addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link || event.metaKey || event.ctrlKey) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  follow();
  close();
  if (!drawers.left.matches) byId("message").focus();
});
addEventListener("popstate", follow);
// What happens elsewhere, as long as somebody looks
let watching = null;

function watch() {
  if (document.hidden) watching = watching?.close();
  if (document.hidden || watching) return;
  watching = new EventSource("/api/sessions/events");
  watching.onopen = () => {
    listSessions();
    if (sessions.some(({ id }) => id === chat.id)) chat.catchUp().catch(problem);
  };
  watching.onmessage = ({ data }) => {
    const { session, kind } = JSON.parse(data);
    listSessions();
    if (session === chat.id && kind === "deleted") begin();
    else if (session === chat.id) chat.catchUp().catch(problem);
  };
  watching.onerror = () => {
    listSessions();
    if (watching?.readyState !== EventSource.CLOSED) return;
    watching = null;
    setTimeout(watch, 5000);
  };
}

document.addEventListener("visibilitychange", watch);
// Links to notes: pointed at, focused or chosen
let resting = 0;

function openLink(link, isGlance) {
  const { note: target, path } = link.dataset;
  const reference = link.reference ?? link.closest("article")?.answer?.referenceFor(target);
  const name = path ?? reference?.relative_path ?? (link.closest("#note") ? note.targetOf(target) : target);
  return note.open(name, reference?.lines ?? null, isGlance);
}

function glance({ target }) {
  const link = target.closest?.("#middle a.note");
  clearTimeout(resting);
  if (link && !drawers.right.matches) resting = setTimeout(() => openLink(link, true), GLANCE);
}

document.addEventListener("mouseover", glance);
document.addEventListener("focusin", glance);
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a.note");
  if (!link || event.metaKey || event.ctrlKey) return;
  event.preventDefault();
  clearTimeout(resting);
  open("right");
  await openLink(link, false);
  byId("note-title").focus();
});
// Drawers of narrow windows
let drawer = "";
let opener = null;

async function open(side) {
  if (!drawers[side].matches || drawer === side) return;
  opener = document.activeElement;
  lay(side);
  byId(side).querySelector("[data-close]").focus();
}

function close() {
  if (!drawer) return;
  lay("");
  opener?.focus();
}

function lay(side) {
  document.body.dataset.drawer = drawer = side;
  for (const [each, { matches }] of Object.entries(drawers)) byId(each).inert = matches && side !== each;
  byId("middle").inert = Boolean(side);
  byId("veil").hidden = !side;
}

for (const side of Object.keys(drawers)) {
  byId(`show-${side}`).addEventListener("click", () => open(side));
  drawers[side].addEventListener("change", () => lay(""));
}
for (const each of document.querySelectorAll("[data-close]")) each.addEventListener("click", close);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  if (drawer) close();
  else if (byId("context").open) byId("context").open = false;
  else chat.stop();
});
// Beginning
byId("examples").append(...EXAMPLES.map(([text, words]) => {
  const button = make("button", { type: "button" }, make("b", {}, words), make("span", {}, text));
  button.addEventListener("click", () => composer.write(text));
  return make("li", {}, button);
}));
lay("");
watch();
follow();
get("/api/state").then(({ vault }) => (byId("vault").textContent = vault), problem);
get("/api/commands").then((commands) => (composer.commands = [...OWN_COMMANDS, ...commands]), problem);
