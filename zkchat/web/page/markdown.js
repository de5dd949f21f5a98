// Markdown as nodes of the page. What notes and models write only ever becomes text: HTML in it is shown as it is
// written, images are named and not fetched, and links lead to notes or to http(s) and mail addresses alone. Every
// pattern takes time in proportion to the text, and what nests deeper than MAX_DEPTH is shown as text.
import { make } from "./dom.js";

const MAX_DEPTH = 8;
const MAX_COLUMNS = 60;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}>/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])( +|$)/;
const DELIMITERS = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

const isBlank = (line) => !line.trim();
const indentOf = (line) => line.length - line.trimStart().length;
const isOrdered = (item) => /\d/.test(item[2][0]);

const isTable = (lines, index) =>
  lines[index].includes("|") && lines[index + 1]?.includes("-") && DELIMITERS.test(lines[index + 1]);

function interrupts(line) {
  if (isBlank(line) || FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line)) return true;
  const item = ITEM.exec(line);
  return Boolean(item && item[1].length < 4 && (!isOrdered(item) || parseInt(item[2], 10) === 1));
}
/** The blocks of some lines: their kind, their lines, and where they begin. */
function blocksOf(lines) {
  const found = [];
  let index = 0;
  while (index < lines.length) {
    const [kind, end, more] = isBlank(lines[index]) ? ["", index + 1] : blockAt(lines, index);
    if (kind) found.push({ kind, from: index, lines: lines.slice(index, end), ...more });
    index = end;
  }
  return found;
}

function blockAt(lines, start) {
  const line = lines[start];
  const while_ = (holds, from = start + 1) => {
    let end = from;
    while (end < lines.length && holds(lines[end])) end += 1;
    return end;
  };
  const fence = FENCE.exec(line);
  if (fence) {
    const closes = (each) => each.trim().startsWith(fence[1]) && /^(`+|~+)$/.test(each.trim());
    const end = while_((each) => !closes(each));
    return ["code", Math.min(end + 1, lines.length), { isClosed: end < lines.length, info: fence[2].trim() }];
  }
  if (HEADING.test(line)) return ["heading", start + 1];
  if (RULE.test(line)) return ["rule", start + 1];
  if (QUOTE.test(line)) return ["quote", while_((each) => QUOTE.test(each) || !interrupts(each))];
  const item = ITEM.exec(line);
  if (item && item[1].length < 4) return listAt(lines, start);
  if (isTable(lines, start)) return ["table", while_((each) => each.includes("|") && !isBlank(each))];
  if (indentOf(line) >= 4) return ["indented", while_((each) => indentOf(each) >= 4 && !isBlank(each))];
  return ["paragraph", while_((each) => !interrupts(each))];
}

function listAt(lines, start) {
  const base = indentOf(lines[start]);
  const ordered = isOrdered(ITEM.exec(lines[start]));
  const items = [];
  let index = start;
  let wasBlank = false;
  for (; index < lines.length; index += 1) {
    const line = lines[index];
    if (isBlank(line)) {
      wasBlank = true;
      items.at(-1).lines.push("");
      continue;
    }
    const depth = indentOf(line);
    const item = depth < base + 2 && !RULE.test(line) ? ITEM.exec(line) : null;
    if (item) {
      if (isOrdered(item) !== ordered) break;
      const spaces = item[3].length > 4 ? 1 : item[3].length;
      const indent = item[1].length + item[2].length + spaces;
      items.push({ number: parseInt(item[2], 10), indent, lines: [line.slice(indent)], from: index });
    } else if (depth >= base + 2) {
      items.at(-1).lines.push(line.slice(Math.min(depth, items.at(-1).indent)));
    } else if (wasBlank || interrupts(line)) {
      break;
    } else {
      items.at(-1).lines.push(line.trim());
    }
    wasBlank = false;
  }
  while (isBlank(lines[index - 1])) index -= 1;
  return ["list", index, { items, ordered }];
}
/** Shows a text, and shows more of it without touching the blocks that stay the same. */
export class Rendered {
  constructor(element) {
    Object.assign(this, { element, keys: [] });
    element.classList.add("markdown");
  }

  show(text) {
    const lines = text.replace(/\r\n?/g, "\n").split("\n").map(untabbed);
    const blocks = blocksOf(lines);
    let depth = 0;
    const keys = blocks.map((block) => {
      if (block.kind === "heading") depth = block.depth = Math.min(HEADING.exec(block.lines[0])[1].length, depth + 1);
      return [block.kind, block.from, block.depth ?? "", block.lines.join("\n")].join("\0");
    });
    let same = 0;
    while (same < keys.length && keys[same] === this.keys[same]) same += 1;
    while (this.element.childNodes.length > same) this.element.lastChild.remove();
    this.element.append(...blocks.slice(same).map((block) => this.block(block, 1, 0)));
    this.keys = keys;
  }
  /** One block as one element, which knows its lines. */
  block(block, first, nesting) {
    const element = nesting > MAX_DEPTH ? plain(block) : this[block.kind](block, first + block.from, nesting);
    Object.assign(element.dataset, { line: first + block.from, end: first + block.from + block.lines.length - 1 });
    if (block.kind !== "code") element.dir = "auto";
    return element;
  }

  inside(lines, first, nesting) { return blocksOf(lines).map((each) => this.block(each, first, nesting + 1)); }

  heading({ lines, depth }) {
    const text = lines[0].trim().replace(/^#+/, "").trim().replace(/(^|[ \t])#+$/, "").trim();
    if (!depth) return make("p", { className: "title" }, inline(text, make("strong")));
    return inline(text, make(`h${Math.min(6, 2 + depth)}`));
  }

  code({ lines, isClosed, info }) { return code(lines.slice(1, isClosed ? -1 : undefined), info === "text"); }
  indented({ lines }) { return code(lines.map((line) => line.slice(4))); }
  rule() { return make("hr"); }
  paragraph({ lines }) {
    const text = lines.map((line) => line.trimStart()).join("\n");
    return inline(text.replace(/(^| )\^[\w-]{1,99}$/, ""), make("p")); // without the name of the block
  }

  quote({ lines }, first, nesting) {
    const inner = lines.map((line) => line.replace(/^ {0,3}> ?/, ""));
    const callout = /^\[!([\w-]{1,40})\][+-]?[ \t]*/.exec(inner[0]);
    const title = callout ? inner[0].slice(callout[0].length) || callout[1] : "";
    if (callout) inner[0] = "";
    const quote = make("blockquote", {}, ...this.inside(inner, first, nesting));
    if (title) quote.prepend(inline(title, make("p", { className: "title" })));
    return quote;
  }

  list({ items, ordered, from }, first, nesting) {
    const list = make(ordered ? "ol" : "ul");
    if (ordered && items[0].number !== 1) list.start = items[0].number;
    for (const item of items) {
      const at = first - from + item.from;
      const row = make("li", { dir: "auto", dataset: { line: at, end: at + item.lines.length - 1 } });
      const task = /^\[([ xX])\](?: |$)/.exec(item.lines[0]);
      const lines = [...item.lines];
      if (task) {
        lines[0] = lines[0].slice(task[0].length);
        const state = { checked: task[1] !== " ", "aria-label": task[1] === " " ? "open" : "done" };
        row.append(make("input", { type: "checkbox", disabled: true, ...state }));
        row.className = "task";
      }
      const [head, ...rest] = this.inside(lines, at, nesting);
      row.append(...(head?.localName === "p" && !head.className ? head.childNodes : head ? [head] : []), ...rest);
      list.append(row);
    }
    return list;
  }

  table({ lines }, first) {
    const [head, marks, ...rows] = lines.map(cellsOf);
    const sides = marks.map((mark) => (/:$/.test(mark) ? (/^:/.test(mark) ? "center" : "right") : ""));
    const row = (cells, name, at) => {
      const cell = (_, column) => inline(cells[column] ?? "", make(name, { className: sides[column] ?? "", dir: "auto" }));
      return make("tr", { dataset: { line: at, end: at } }, ...head.map(cell));
    };
    const body = rows.map((cells, index) => row(cells, "td", first + index + 2));
    const table = make("table", {}, make("thead", {}, row(head, "th", first)), make("tbody", {}, ...body));
    return make("div", { className: "table", tabIndex: 0 }, table);
  }
}

const untabbed = (line) => line.replace(/^[ \t]+/, (space) => space.replaceAll("\t", "    "));
const code = (lines, isText) => {
  const nodes = isText ? linked(lines.join("\n")) : [lines.join("\n")]; // what a command printed has links
  return make("pre", { tabIndex: 0, className: isText ? "wrapped" : "" }, make("code", {}, ...nodes));
};
const plain = ({ lines }) => make("p", {}, lines.join("\n").slice(0, 10_000));

function cellsOf(line) {
  const joined = [];
  for (const cell of line.trim().replace(/^\|/, "").split("|")) {
    joined.push(joined.at(-1)?.endsWith("\\") ? `${joined.pop().slice(0, -1)}|${cell}` : cell);
  }
  if (isBlank(joined.at(-1))) joined.pop();
  return joined.slice(0, MAX_COLUMNS).map((cell) => cell.trim());
}

const TOKEN = /\\[!-/:-@[-`{-~\n]|`+|!?\[|<|https?:\/\/|\*+|_+|~~|==| {0,3}\n/g;
const WIKILINK = /\[\[([^[\]\n]{1,400})\]\]/y;
const TARGET = /\(\s{0,9}(<[^<>\n]{0,2000}>|(?:[^()\s<]|\([^()\s]{0,200}\)){0,2000})(?:\s{1,9}"[^"]{0,300}")?\s{0,9}\)/y;
const LABEL = /\[((?:[^[\]\\]|\\[^]|\[[^[\]]{0,200}\]){0,600})\]/y;
const ADDRESS = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/y;
const BARE = /https?:\/\/[^\s<>"'`\]*]{1,2000}/y;
const BREAK = /<br ?\/?>/iy;
const IMAGE = /\.(avif|bmp|gif|jpe?g|png|svg|webp)$/i;
const STYLES = { "*": "em", "**": "strong", "***": "strong", _: "em", __: "strong", "~~": "del", "==": "mark" };

const matchAt = (pattern, text, index) => Object.assign(pattern, { lastIndex: index }).exec(text);
/** Append what a line of Markdown says to an element, and return that. */
export function inline(text, parent, nesting = 0) {
  const missing = new Set(); // what is not closed from here on, so that it is looked for once
  let done = 0;
  let found = nesting > MAX_DEPTH ? null : matchAt(TOKEN, text, 0);
  while (found) {
    const { 0: token, index } = found;
    const [node, end] = nodeAt(text, index, token, nesting, missing) || [];
    if (node) {
      parent.append(text.slice(done, index), node);
      done = end;
    }
    found = matchAt(TOKEN, text, node ? end : index + token.length);
  }
  parent.append(text.slice(done));
  return parent;
}
/** The node that begins with a token, and where it ends; nothing where the token is only text. */
function nodeAt(text, at, token, nesting, missing) {
  if (token.endsWith("\n")) {
    return token === "\n" || token === " \n" ? ["\n", at + token.length] : [make("br"), at + token.length];
  }
  switch (token[0]) {
    case "\\":
      return [token[1], at + 2];
    case "`": {
      const end = closing(text, at + token.length, token, missing, () => true);
      return end && [make("code", {}, text.slice(at + token.length, end).trim()), end + token.length];
    }
    case "!":
    case "[":
      return linkAt(text, at + token.length - 1, token[0] === "!", nesting);
    case "<": {
      if (matchAt(BREAK, text, at)) return [make("br"), BREAK.lastIndex];
      const address = matchAt(ADDRESS, text, at);
      return address && [anchor(address[1], make("a", {}, address[1])), ADDRESS.lastIndex];
    }
    case "h": {
      const [address] = matchAt(BARE, text, at) ?? [];
      const shown = address?.replace(/[.,:;!?)]{1,9}$/, "");
      return shown && [anchor(shown, make("a", {}, shown)), at + shown.length];
    }
    default:
      return styledAt(text, at, token, nesting, missing);
  }
}

function styledAt(text, at, token, nesting, missing) {
  const style = STYLES[token];
  const from = at + token.length;
  const isWord = (character) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
  if (!style || !/\S/.test(text[from] ?? " ") || (token[0] === "_" && isWord(text[at - 1]))) return null;
  const ends = (end) => /\S/.test(text[end - 1]) && !(token[0] === "_" && isWord(text[end + token.length]));
  const end = closing(text, from, token, missing, ends);
  if (!end || end === from) return null;
  const inner = inline(text.slice(from, end), make(style), nesting + 1);
  return [token === "***" ? make("em", {}, inner) : inner, end + token.length];
}
/** Where the next run of exactly these characters is that may close. */
function closing(text, from, token, missing, may) {
  if (missing.has(token)) return 0;
  const character = token[0];
  for (let at = text.indexOf(token, from); at >= 0; at = text.indexOf(token, at)) {
    let end = at;
    while (text[end] === character) end += 1;
    if (end - at === token.length && text[at - 1] !== "\\" && may(at)) return at;
    at = end;
  }
  missing.add(token);
  return 0;
}

function linkAt(text, at, isImage, nesting) {
  const wikilink = matchAt(WIKILINK, text, at);
  if (wikilink) {
    const [target, ...alias] = wikilink[1].split("|");
    const label = (alias.join("|") || target.replace(/^#/, "").replace("#", " › ")).trim();
    return [isImage && IMAGE.test(target.trim()) ? image(label) : noteLink(target.trim(), label), WIKILINK.lastIndex];
  }
  const label = matchAt(LABEL, text, at);
  const target = label && matchAt(TARGET, text, LABEL.lastIndex);
  if (!target) return null;
  const end = TARGET.lastIndex;
  if (isImage) return [image(label[1]), end];
  const address = target[1].replace(/^<|>$/g, "");
  const link = inline(label[1], make("a"), Math.max(nesting + 1, MAX_DEPTH - 2));
  for (const inner of link.querySelectorAll("a")) inner.replaceWith(...inner.childNodes);
  const led = anchor(address, link);
  return led && [led, end];
}

const image = (label) => make("span", { className: "image" }, `image: ${label || "without a name"}`);

function toNote(link, target) {
  link.dataset.note = target;
  return Object.assign(link, { href: `?${new URLSearchParams({ note: target })}`, className: "note" });
}
/** A link to a note, which whoever shows the text follows. */
export const noteLink = (target, label) => toNote(make("a", {}, label), target);
export const targetIn = (wikilink) => wikilink.replace(/^!?\[\[|\]\]$/g, "").split("|")[0].trim();
const NAMED = /(\[\[[^[\]\n]{1,400}\]\]|(?<=\(in |· |: )[^\s()·:][^()·:\n]{0,200}\.md(?=[):\s]))/;
/** Plain text, with links where it names notes. */
export function linked(text) {
  const label = (piece) => piece.replace(/^\[\[|\]\]$/g, "").split("|").at(-1);
  return text.split(NAMED).map((piece, index) => (index % 2 ? noteLink(targetIn(piece), label(piece)) : piece));
}
/** A link that leads to an address, or to a note; nothing for what a browser would do something else with. */
function anchor(address, link) {
  const bare = [...address].filter((character) => character > " " && character !== "\x7f").join("");
  if (/^(https?:\/\/|mailto:)/i.test(bare)) {
    return Object.assign(link, { href: bare, rel: "noopener noreferrer", target: "_blank", title: bare });
  }
  if (!bare || /^[a-z][a-z0-9+.-]*:/i.test(bare) || /^[/\\]{2}/.test(bare)) return null;
  const target = new URLSearchParams(`p=${address.replaceAll("+", "%2B").replaceAll("&", "%26")}`).get("p");
  return toNote(link, target);
}
