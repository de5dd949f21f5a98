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
const isNarrow = matchMedia("(max-width: 759px)");
const isHalf = matchMedia("(max-width: 1099px)");

let sessions = [];
const note = new NotePanel();
const chat = new Chat(({ id }) => {
  if (addressed().get("session") !== id) history.replaceState(null, "", `#session=${encodeURIComponent(id)}`);
  listSessions();
});
const composer = new Composer((text) => {
  const name = /^\/(new|resume|sessions)\b/.exec(text)?.[1];
  if (name === "new") begin();
  else if (name) find();
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
  const fits = sessions.filter((each) => titleOf(each).toLowerCase().includes(wanted));
  const before = document.activeElement?.dataset?.session;
  byId("sessions").replaceChildren(
    ...fits.map((session) => {
      const { id } = session;
      const link = make(
        "a",
        { href: `#session=${encodeURIComponent(id)}`, dataset: { session: id } },
        make("span", { dir: "auto" }, titleOf(session)),
        make("time", { dateTime: session.updated_at }, dayOf(session.updated_at)),
      );
      if (id === chat.id) link.setAttribute("aria-current", "page");
      return make("li", {}, link);
    }),
  );
  if (before) byId("sessions").querySelector(`[data-session="${CSS.escape(before)}"]`)?.focus();
  byId("none").hidden = fits.length > 0;
  byId("none").textContent = wanted ? "No title has these words." : "Your conversations will be listed here.";
}

const titleOf = ({ title, first_words: words }) => title || words || "Without a title";

function dayOf(text) {
  const date = new Date(text);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })
    : date.toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" });
}

const addressed = () => new URLSearchParams(location.hash.slice(1));

async function follow() {
  const id = addressed().get("session") ?? "";
  const name = addressed().get("note");
  if (name) note.open(name);
  if (id === chat.id && !name) return;
  try {
    if (id) await chat.resume(id);
    else if (!name) chat.begin();
  } catch (error) {
    problem(error);
  }
  showSessions();
}

function begin() {
  history.pushState(null, "", "#");
  chat.begin();
  showSessions();
  close();
  byId("message").focus();
}

function find() {
  open("left");
  byId("search").focus();
}

byId("new").addEventListener("click", begin);
byId("search").addEventListener("input", showSessions);
byId("sessions").addEventListener("click", (event) => {
  if (!event.target.closest("a") || event.metaKey || event.ctrlKey) return;
  close();
  if (!isNarrow.matches) byId("message").focus();
});
addEventListener("popstate", follow);
addEventListener("hashchange", follow);

// What happens elsewhere, as long as somebody looks

let watching = null;

function watch() {
  if (document.hidden) {
    watching?.close();
    watching = null;
    return;
  }
  if (watching) return;
  watching = new EventSource("/api/sessions/events");
  watching.onopen = () => {
    listSessions();
    chat.catchUp().catch(problem);
  };
  watching.onmessage = ({ data }) => {
    const { session, kind } = JSON.parse(data);
    listSessions();
    if (session === chat.id && kind === "changed") chat.catchUp().catch(problem);
    else if (session === chat.id) begin();
  };
}

document.addEventListener("visibilitychange", watch);

// Links to notes: pointed at, focused or chosen

let resting = 0;

function openLink(link, isGlance) {
  const target = link.dataset.note;
  const answer = link.closest("article")?.answer;
  const reference = link.reference ?? answer?.referenceFor(target);
  const name = reference?.relative_path ?? (link.closest("#note") && !link.dataset.path ? note.targetOf(target) : target);
  return note.open(name, { lines: reference?.lines ?? null, isGlance });
}

function glance({ target }) {
  const link = target.closest?.("#middle a.note");
  clearTimeout(resting);
  if (link && !isHalf.matches) resting = setTimeout(() => openLink(link, true), GLANCE);
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

function open(side) {
  if (side === "left" ? !isNarrow.matches : !isHalf.matches) return;
  opener = document.activeElement;
  drawer = side;
  lay();
  byId(side).querySelector("[data-close]").focus();
}

function close() {
  if (!drawer) return;
  drawer = "";
  lay();
  opener?.focus();
}

function lay() {
  document.body.dataset.drawer = drawer;
  byId("left").inert = isNarrow.matches && drawer !== "left";
  byId("right").inert = isHalf.matches && drawer !== "right";
  byId("middle").inert = Boolean(drawer);
  byId("veil").hidden = !drawer;
}

byId("show-left").addEventListener("click", () => open("left"));
byId("show-right").addEventListener("click", () => open("right"));
for (const each of document.querySelectorAll("[data-close]")) each.addEventListener("click", close);
for (const each of [isNarrow, isHalf]) {
  each.addEventListener("change", () => {
    drawer = "";
    lay();
  });
}
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  if (drawer) close();
  else if (byId("context").open) byId("context").open = false;
  else chat.stop();
});

// Beginning

byId("examples").append(
  ...EXAMPLES.map(([text, words]) => {
    const button = make("button", { type: "button" }, make("b", {}, words), make("span", {}, text));
    button.addEventListener("click", () => composer.write(text));
    return make("li", {}, button);
  }),
);
lay();
watch();
follow();
listSessions();
get("/api/state").then(({ vault }) => (byId("vault").textContent = vault), problem);
get("/api/commands").then((commands) => {
  const own = [{ name: "new", arguments: "", help: "a new conversation" }, { name: "resume", arguments: "", help: "choose one" }];
  composer.commands = [...own, { name: "help", arguments: "[NAME]", help: "what you can do" }, ...commands];
}, problem);
