// Nodes, requests and streams of events. Text becomes text, never HTML.

export const byId = (id) => document.getElementById(id);

/** A new element; `children` are nodes and texts. */
export function make(name, properties = {}, ...children) {
  const { dataset = {}, ...rest } = properties;
  const element = Object.assign(document.createElement(name), rest);
  Object.assign(element.dataset, dataset);
  element.append(...children);
  return element;
}

/** An error in words, with what to do about it. */
export class Problem extends Error {
  constructor(message, hint = "") {
    super(message);
    this.hint = hint;
  }

  get words() {
    return [this.message, this.hint].filter(Boolean).join(" ");
  }
}

async function asked(path, options) {
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("zkchat serve does not answer.", "Is it still running?");
  }
  if (answer.ok) return answer;
  if (answer.status === 401) {
    throw new Problem("This browser is not known any more.", "Open the address that zkchat serve printed last.");
  }
  const { error } = await answer.json().catch(() => ({}));
  throw new Problem(error?.message ?? `The server answered ${answer.status}.`, error?.hint);
}

export async function get(path, parameters = {}, signal) {
  const query = String(new URLSearchParams(parameters));
  return (await asked(query ? `${path}?${query}` : path, { signal })).json();
}

const sent = (content, signal) => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(content),
  signal,
});

export async function post(path, content) {
  return (await asked(path, sent(content))).json();
}

/** The events that the server answers with, as they come. */
export async function* events(path, content, signal) {
  const answer = await asked(path, sent(content, signal));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let unread = "";
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem("The connection to zkchat serve broke off.", "What came of the answer is kept.");
    }
    if (piece.done) return;
    const blocks = (unread + piece.value).split("\n\n");
    unread = blocks.pop();
    for (const block of blocks) if (block.startsWith("data: ")) yield JSON.parse(block.slice(6));
  }
}

export const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
