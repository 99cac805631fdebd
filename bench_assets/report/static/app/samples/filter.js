/* Filters of questions by outcome, category, label and group. Pure; fast for 20,000 questions and 10 models. */

/** @type {Record<string, string>} */
export const NAMES = {
  r: "right", p: "partly right", w: "wrong", n: "no answer", x: "refused", u: "unscored", e: "failed",
  o: "no points to gain", "-": "not asked",
};
/** @type {Record<string, string>} */
export const MARKS = { r: "✓", p: "◐", w: "✗", n: "∅", x: "⊘", u: "?", e: "!", o: "○", "-": "·" };

/** Values of `outcome` and their names, in the order of the page. */
export const OUTCOMES = {
  "": "all", wrong: "wrong", right: "right", partly: "partly right",
  "wrong-by-all": "wrong by all models shown", disagree: "models disagree",
  worse: "worse than the checkpoint before", better: "better than the checkpoint before",
  unread: "unread", unscored: "unscored", cut: "cut short", "no-answer": "no answer", refused: "refused", failed: "failed",
};

/** Unpack the outcomes of a model: {letters, shares: of the points, for each question, unread: rows}.

    A share is NaN if the question was not asked, failed or is unscored.
    @type {(points: PackedOutcomes) => Outcomes} */
export function unpackOutcomes(points) {
  const shares = new Float32Array(points.letters.length);
  let next = 0;
  for (let row = 0; row < shares.length; row += 1) {
    const letter = points.letters[row].toLowerCase();
    if (letter === "p") shares[row] = points.shares[next++];
    else shares[row] = letter === "r" ? 1 : "wnx".includes(letter) ? 0 : NaN;
  }
  return { letters: points.letters, shares, unread: new Set(points.unread) };
}

/** The outcome of a question in a word: {letter, name, mark, cut}. @type {(of: Outcomes | null | undefined, row: number) => Outcome} */
export function outcomeOf(of, row) {
  const written = of ? of.letters[row] : "-";
  const letter = written.toLowerCase();
  const cut = written !== letter;
  return { letter, cut, mark: MARKS[letter], name: NAMES[letter] + (cut && letter !== "n" ? ", cut short" : "") };
}

/** A test of a row for each value of `outcome`. models: unpacked outcomes, the selected model first.

    A model that was not evaluated, or whose scores cannot be read, is null.
    @type {(models: (Outcomes | null)[], earlier: Outcomes | null | undefined) => Record<string, (row: number) => boolean>} */
export function outcomeTests(models, earlier) {
  const [first] = models;
  const known = models.filter(Boolean);
  /** @type {(letter: string) => (row: number) => boolean} */
  const is = (letter) => (row) => Boolean(first) && first.letters[row].toLowerCase() === letter;
  /** @type {(row: number) => number} */
  const change = (row) => (first && earlier ? first.shares[row] - earlier.shares[row] : NaN);
  const nothing = is("w");
  const noAnswer = is("n");
  const refused = is("x");
  return {
    "": () => true,
    wrong: (row) => nothing(row) || noAnswer(row) || refused(row),
    right: is("r"),
    partly: is("p"),
    "wrong-by-all": (row) => {
      let some = false;
      for (const one of known) {
        if (one.shares[row] > 0) return false;
        some = some || one.shares[row] === 0;
      }
      return some;
    },
    disagree: (row) => {
      let [least, most] = [Infinity, -Infinity];
      for (const one of known) {
        if (one.shares[row] < least) least = one.shares[row];
        if (one.shares[row] > most) most = one.shares[row];
      }
      return most > least;
    },
    worse: (row) => change(row) < 0,
    better: (row) => change(row) > 0,
    unread: (row) => Boolean(first) && first.unread.has(row),
    unscored: is("u"),
    cut: (row) => Boolean(first) && (/[A-Z]/.test(first.letters[row]) || noAnswer(row)),
    "no-answer": noAnswer,
    refused,
    failed: is("e"),
  };
}

/** The rows of the chosen category, labels and group.
    @type {(questions: Questions, chosen: Pick<SampleChoice, "category" | "group" | "label">) => number[]} */
export function matchingQuestions(questions, chosen) {
  /** @type {[number[], number][]} */
  const wanted = [];
  /** @type {(coded: Coded, value: string) => void} */
  const want = (coded, value) => wanted.push([coded.codes, coded.values.indexOf(value)]);
  if (chosen.category) want(questions.categories, chosen.category);
  if (chosen.group) want(questions.groups, chosen.group);
  for (const label of chosen.label) {
    const [name, ...value] = label.split("=");
    if (questions.labels[name]) want(questions.labels[name], value.join("="));
  }
  const rows = [];
  for (let row = 0; row < questions.ids.length; row += 1) {
    if (wanted.every(([codes, code]) => codes[row] === code)) rows.push(row);
  }
  return rows;
}

/** Number of rows that pass each test: {outcome: n}.
    @type {(rows: number[], all: Record<string, (row: number) => boolean>) => Record<string, number>} */
export function countOutcomes(rows, all) {
  return Object.fromEntries(Object.entries(all).map(([name, test]) => {
    let n = 0;
    for (const row of rows) if (test(row)) n += 1;
    return [name, n];
  }));
}

/** Number of rows with each value: [[value, n]], by value; "" is left out. @type {(rows: number[], coded: Coded) => [string, number][]} */
export function valueCounts(rows, coded) {
  const n = new Array(coded.values.length).fill(0);
  for (const row of rows) n[coded.codes[row]] += 1;
  return coded.values.map((value, code) => /** @type {[string, number]} */ ([value, n[code]])).filter(([value]) => value)
    .sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
}
