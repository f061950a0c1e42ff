import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { Doorstep } from '@doorstep/sdk';
import type { z } from 'zod';
import type { Caller } from './caller.js';
import type { Plan, Decision } from './confirmation.js';

/** Groups of tools that can be offered by name. */
export const toolsets = ['access', 'delivery', 'provisioning', 'content', 'billing', 'audit'] as const;
export type Toolset = (typeof toolsets)[number];

/** What a tool does for the person who asks: one task, with as many requests as it takes. */
export interface Tool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject> {
  /** As assistants call it: `move_eta`. */
  readonly name: string;
  readonly title: string;
  /** When to use it and what it does: all that an assistant chooses by. */
  readonly description: string;
  /** `always`: offered with every toolset, because the others cannot be used without it. */
  readonly toolset: Toolset | 'always';
  /** The operations of the API that it calls. */
  readonly operations: readonly string[];
  /** Who can use it at all. The API decides at each call. */
  readonly callers: readonly Caller['role'][];
  /** Whether it writes, and what its writes may do to what there is. */
  readonly effect: 'reads' | 'adds' | 'changes' | 'destroys';
  /** Calling it again with the same arguments has no further effect. */
  readonly idempotent: boolean;
  /** Reaches beyond the service: mails, source-code host, hosting, payments. */
  readonly openWorld: boolean;
  readonly input: Input;
  readonly output: Output;
  run(context: ToolContext, input: z.output<Input>): Promise<Report<z.input<Output>> | Pending>;
}

/** A call as a tool sees it. */
export interface ToolContext {
  readonly doorstep: Doorstep;
  readonly caller: Caller;
  /** Aborted when the assistant takes its call back. */
  readonly signal: AbortSignal;
  readonly now: () => Date;
  /** Reports how far a long task has come, to assistants that asked for it; what is no further is left out. */
  readonly progress: (done: number, total: number, message: string) => Promise<void>;
  /** Asks before something is destroyed: see `confirmation.ts`. */
  readonly confirm: (plan: Plan) => Promise<Decision>;
}

/** What a tool answers. */
export interface Report<Data> {
  /** A few sentences of our own words, slugs, dates and numbers: never text that people wrote. */
  readonly text: string;
  /** Text that people wrote, by what it is; shown fenced, as data. */
  readonly quotes?: Readonly<Record<string, unknown>>;
  readonly data: Data;
}

/** Nothing was done yet: somebody has to confirm. */
export interface Pending {
  readonly pending: CallToolResult | InputRequiredResult;
}

/** Keeps the types of a tool's schemas for its `run`, and forgets them for the list of tools. */
export const tool = <Input extends z.ZodObject, Output extends z.ZodObject>(definition: Tool<Input, Output>): Tool => definition;
