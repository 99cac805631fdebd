/* Shapes of the data that Python writes (bench_assets/report), and of what modules hand to each other. */

// Elements, addresses, tables and plots.

type Child = Node | string | number | null | undefined | false | readonly Child[];
interface Attributes {
  [listener: `on${string}`]: ((event: any) => unknown) | undefined;
  style?: Record<string, string | undefined>;
  [name: string]: unknown;
}
interface MakeElement {
  <K extends keyof HTMLElementTagNameMap>(tag: K, attributes?: Attributes, ...children: Child[]): HTMLElementTagNameMap[K];
  (tag: string, attributes?: Attributes, ...children: Child[]): HTMLElement;
}
interface Query { [name: string]: string | number | null | undefined | readonly string[] }
type Params = Record<string, string>;
type DrawPage = (main: HTMLElement, params: Params, query: URLSearchParams) => Promise<void>;
type Choose = (changes: any) => unknown;

interface Column<R> {
  key: string;
  title: Child;
  number?: boolean;
  value?: (row: R) => any;
  cell?: ((row: R) => Child) | null;
  hint?: string | null;
  ascending?: boolean;
  plain?: boolean;
}
interface TableSection<R> { class?: string; title?: string; rows: R[] }
interface TableGroup { title: string; span: number; suite?: string }
interface TableOptions<R> {
  caption?: string;
  label?: string;
  sort?: string;
  onsort?: (sort: string) => void;
  heading?: string;
  class?: string;
  rowClass?: (row: R) => string | null;
  groups?: TableGroup[];
  below?: (TableSection<any> | false | null)[];
}
interface FigureOptions {
  note?: string | null;
  columns?: Column<any>[];
  alt?: string;
  legend?: (string | undefined)[][];
  label?: string;
  most?: number;
}
interface BaselineLine { name: string; value: number }

type PlotValue = string | number | boolean | null | undefined | readonly any[] | ((row: any) => any) | PlotOptions;
interface PlotOptions { [name: string]: PlotValue }
declare const Plot: Record<string, (data?: PlotOptions | readonly any[], options?: PlotOptions) => any>;
interface LoadData {
  (name: "tabs"): Promise<string[]>;
  (name: "audit"): Promise<AuditTask[]>;
  (name: "annotation"): Promise<AnnotationTask[]>;
  (name: "gold"): Promise<GoldSuite[]>;
  (name: "parser"): Promise<Record<string, string>[]>;
  (name: `number-${string}`): Promise<NumberData>;
  (name: `compare-${string}`): Promise<Record<string, ComparedParts>>;
  (name: `${string}-questions`): Promise<Questions>;
  (name: `${string}-points`): Promise<PackedOutcomes>;
  (name: `${string}-responses-${number}`): Promise<SampleResponse[][]>;
  (name: `${string}-texts-${number}`): Promise<QuestionText[]>;
  (name: `${string}-prompts-${number}`): Promise<Record<string, [string, (string | { image: string })[]][]>>;
  (name: `samples-${string}`): Promise<SampledTask>;
  (name: string): Promise<any>;
}
interface Window { Bench: { put: (name: string, value: unknown) => void } }

// The index: tasks, models, and numbers. A number is null where nothing could be scored.

interface Task {
  name: string; slug: string; title: string; suite: string; asked_of: string; about: string; purpose: string;
  metric: string; lower_is_better: string[]; chance: number | null; questions: number; edition: string;
  conditions: Record<string, string>; measured: string[];
}
interface Model { name: string; slug: string; kind: string; run: string | null; step: number | null }
interface MetricRow {
  metric: string; value: number; low: number; high: number; n_scored: number;
  unread?: number | null; if_unread_wrong?: number | null; if_unread_right?: number | null;
}
interface Row extends MetricRow {
  task: string; model: string; condition: string; edition: string; category: string;
  n_unscored: number; n_failed: number; n_rejected: number; n_expired: number; n_refused: number;
  n_clusters: number | null; largest_cluster: number | null; named?: number | null; asked_again?: number | null;
  constant: number | null; shuffled: number | null; baselines?: string; served: string; mixed: string; people: string;
  reader?: string; stale: string; partial: string; unreadable?: string;
  baseline: number | null; baseline_end: number | null;
  [column: string]: any;
}
interface Published {
  task: string; model: string; condition: string; metric: string; category: string; value: number; source: string;
  printed: string; note: string;
}
interface Ranking {
  edition: string; condition: string; tasks: string[];
  ranks: { model: string; mean: number; low: number | null; high: number | null }[];
}
interface Index {
  version: string; measured: string; missing: string[]; tasks: Task[]; models: Model[]; rows: Row[];
  published: Published[]; rankings: Ranking[]; running: { model: string; task: string; part: string; at: number }[];
  task: (name: string) => Task;
  model: (name: string) => Model;
}
interface Mark { mark: string; why: string; href?: string }

// A task's page.

interface Usage {
  model: string; condition: string; responses: number; prompt_tokens: number; completion_tokens: number; seconds: number;
  cost: number; [name: string]: any;
}
interface TaskData {
  version: number; metrics: string[]; scorers: string[]; counts: Record<string, number>; categories: string[];
  rows: Row[]; published: Published[]; usage: Usage[];
  confusion: { model: string; condition: string; right: string; chosen: string; n: number }[];
  unreadable: { model: string; condition: string; why: string }[];
}
interface TaskChoice { metric: string; condition: string; edition: string; category: string; table: string; model: string }
interface TaskView { index: Index; task: Task; data: TaskData; chosen: TaskChoice; change: Choose }
interface Cell { metric: string; condition: string; category: string }
interface PaperColumn extends Cell { key: string; title: string }
interface PaperRow { model: string; at: (key: string) => any; marks?: HTMLElement[]; isPrinted?: boolean }
interface PaperTable { name: string; columns: PaperColumn[]; printed: Published[] }

// The leaderboard.

interface LeaderboardChoice {
  q: string; suite: string; kind: string; edition: string; condition: string; sort: string; published: string; intervals: string;
  [name: string]: string;
}
interface ModelRow { model: Model; cells: Record<string, Row>; rank: Ranking["ranks"][0] | null; only: string[] | null }
interface Matrix {
  edition: string; tasks: Task[]; models: ModelRow[]; baselines: ModelRow[]; ranked?: Ranking; published: Published[];
  best: Record<string, number | null>; scale: Record<string, number>;
}

/** A row of the matrix: of a model, or of what is not one. */
interface MatrixRow extends Partial<ModelRow> {
  name: string; link?: Child; printed?: (task: Task) => Child; reference?: (task: Task) => Child;
}

// Samples.

interface Coded { values: string[]; codes: number[] }
interface Questions {
  ids: string[]; texts: string[]; kinds: Coded; categories: Coded; groups: Coded; labels: Record<string, Coded>;
  shown: number[][]; images: (string | [string, string])[];
}
interface SampledModel { name: string; slug: string; data: string; problem?: string }
interface SampledCondition {
  name: string; about: string; questions: string; n: number; thumbnail?: string; problem?: string; withheld?: boolean;
  prompts: string; models: SampledModel[];
}
interface SampledTask { task: string; title: string; chunk: number; conditions: SampledCondition[] }
interface PackedOutcomes { letters: string; shares: number[]; unread: number[] }
interface Outcomes { letters: string; shares: Float32Array; unread: Set<number> }
interface Outcome { letter: string; name: string; mark: string; cut: boolean }
/** A text, or [its beginning, its length, the name of the whole]. */
type LongText = string | [string, number, string];
interface QuestionText {
  text?: string; context?: string; options?: string[]; answer: string[]; image_texts?: string[]; labels?: [string, string][];
}
interface Verdict {
  judge: string; criterion?: string; verdict?: boolean; value?: string; response?: LongText; error?: LongText; prompt?: string;
}
interface SampleResponse {
  text?: LongText; raw?: LongText; ranking?: string[]; end?: string; asked?: LongText; no_answer?: LongText; error?: LongText;
  seconds?: number; tokens?: number; asked_tokens?: number; served?: string; prompt?: string; sent_with?: string; points?: number; most?: number;
  answer?: LongText[]; why?: LongText; judge?: string; scorer?: string; unread?: boolean; verdicts?: Verdict[];
  /** Start and end of the text that the answer was read from. */
  span?: [number, number];
}
/** The paths of an image, or why it is missing. */
interface ShownImage { full?: string; small?: string; problem?: string; alt: string }
interface SampleChoice {
  model: string; outcome: string; condition: string; category: string; group: string; q: string; responses: string;
  sample: string; beside: string[]; label: string[]; [name: string]: any;
}
interface SampleView {
  task: Task; about: SampledTask; chosen: SampleChoice; condition: SampledCondition; known: Map<string, Model>; chunk: number;
  questions: Questions; models: SampledModel[]; outcomes: Map<SampledModel, Outcomes | null>; earlier: SampledModel | null;
  stale: HTMLElement[];
}
interface FoundSamples { rows: number[]; outcomes: Record<string, number>; categories: [string, number][] }
type FindPrompt = (prompt: string | undefined, isJudge: boolean) => Child;
type DrawText = (text: LongText, tag?: string, span?: [number, number]) => HTMLElement;
interface ShownModel {
  model: SampledModel; outcome: Outcome; problem?: string; samples?: SampleResponse[]; sent: FindPrompt;
}
interface ShownSample {
  questions: Questions; row: number; text: QuestionText | null; problem?: string; models: ShownModel[]; choose: Choose; address: string;
}
interface LoadedSample { text: QuestionText | null; said: Map<SampledModel, { samples?: SampleResponse[]; problem?: string }>; problem?: string }
interface FilterBar { element: HTMLElement; update: (found: FoundSamples) => void; focus: () => void; clear: () => void }
interface SampleList {
  element: HTMLElement; rows: number[]; selected: number; show: (rows: number[]) => void; select: (row: number) => void;
  move: (steps: number) => void;
}
interface Search {
  complete: (models: SampledModel[], progress: (done: number, of: number) => void) => Promise<boolean>;
  found: (text: string, models: SampledModel[]) => Uint8Array | null;
}

// Compare.

interface ComparedUnits { units: number[]; clusters: number[]; values: number[]; weights: number[] }
interface ComparedParts {
  data: string; n: number; value: number; lower_is_better: boolean; ways: Record<string, ComparedUnits>;
  compared: Record<string, string>;
}
interface UnitPair { unit: number; gained: number; weight: number; share: boolean; cluster: number }
interface PairedUnits { way: string; pairs: UnitPair[]; whole: boolean }
interface Tested { change: number; low: number | null; high: number | null; p: number | null }
/** What decides whether a number is known well enough. */
type ComparedRow = Pick<Row, "model" | "value" | "low" | "high" | "unread" | "if_unread_wrong" | "if_unread_right">;
interface Difference extends Tested {
  before: number; after: number; n: number; paired: boolean; reason: string; unread?: ComparedRow | null; lower: boolean;
  verdict?: string;
}
interface ComparedTask { task: Task; rows: Row[]; found: Difference }
interface Compared { a: string; b: string; ca: string; cb: string }
interface CompareChoice extends Compared { task: string; names: string[] }
interface SampledSide { listed: Questions; model: SampledModel; asked: string; chunk: number; of: Outcomes }
interface Origins { spelled: Record<string, string>; [column: string]: any }
interface CauseSide {
  ids: string[]; categories: Coded; shares: ArrayLike<number>; written: number; parts: ComparedParts; of: Origins;
  exam: { clusters: number[]; pairs: number[]; fields: Record<string, Coded> };
  pairs?: Map<number, number[]>; members?: Map<number, number[]>;
}
/** A question of one or both sides, by its rows. */
interface CausedQuestion { id: string; a?: number; b?: number; gain: number; cause?: string }
interface CauseUnit extends UnitPair { place: number; category: number; ones?: CausedQuestion[]; cause?: string }
interface CauseUnits { all: CauseUnit[]; weight: number; complete: boolean; rows: (unit: CauseUnit) => number[] }
interface CauseStep { cause: string; ones: CausedQuestion[]; effect: number | null }
interface CauseRow {
  cause: string; before: string; after: string; effect: number | null; n: number; n_better: number; n_worse: number; examples: string[];
}

interface MovedQuestion { id: string; a?: number; b: number; change: number }

// Pages of provenance: a number, the audit, gold, annotation.

interface SignaturePart { name: string; value: string; meaning: string }
interface NumberCondition {
  name: string; about: string; problem?: string; signature: string; parts: SignaturePart[]; metrics: MetricRow[];
  facts: [string, string][];
}
interface CheckOutcome {
  asset: string; check: string; partition: string; passed: boolean; severity: string; sentence: string; examples: string[]; when: string;
}
interface NumberData {
  model: string; task: string; title: string; conditions: NumberCondition[]; checks: CheckOutcome[]; commands: string[];
}
interface AuditState { check: string; question: string; passed: boolean; skipped: string; found: number }
interface AuditTask { task: string; problem: string; data: string; checks: AuditState[] }
interface Suspect { about: string; question: string; text: string; images: [string, string][]; times?: number }
interface AuditCheck extends AuditState { sentence: string; n: number; more: number; suspects: (Suspect & { evidence: string })[] }
interface AuditData { first: (Suspect & { said: string[] })[]; checks: AuditCheck[] }
interface GoldRow {
  suite: string; construction: string; proposed: number; accepted: number; checked: number; wrong: number; wrong_share: number;
  wrong_low: number; wrong_high: number; [count: string]: any;
}
interface Proposal {
  id: string; construction: string; before: string; shows: string; key: string; why: string; question: string;
  votes: [string, string, string][];
}
interface GoldSuite { suite: string; funnel: GoldRow[]; open: Proposal[]; problem: string }
interface Progress {
  units: number; done: number; in_work: number; untouched: number; expired: number; answers: number; refused: number;
  lacking: number; per_day: number; finished_at: string | null; annotators: unknown[];
}
interface AnnotationTask { task: string; title: string; about: string; problem: string; data: string; progress: Progress }
interface Annotator {
  person: string; n_answers: number; n_refused: number; n_skipped: number; seconds: number | null; agreement: number | null;
  n_compared: number; gold: number | null; n_gold: number;
}
interface DisputedUnit {
  unit_id: string; shown: [string, string][]; images: [string, string][]; said: [string, Record<string, number>][];
}
