import type { Engine } from '../../engine.js';
import type { BlueprintEvent } from '../../events/blueprint/blueprint.events.js';
import type { BlueprintState } from '../../events/blueprint/blueprint.state.js';
import type { Untimed } from '../decider.js';
import type { CommandContext, Handled, HandleOptions } from '../handleCommand.js';
import type { ArrangeBlueprint } from './blueprint.commands.js';
import { blueprintDecider } from './blueprint.decider.js';

/** @throws Refused: `Invalid request body — nodes.<index>.id: …`, `Someone else saved …` */
export const arrangeBlueprint = (
  { handle }: Pick<Engine, 'handle'>,
  input: Omit<Untimed<ArrangeBlueprint>, 'type'>,
  context: CommandContext,
  options: HandleOptions,
): Promise<Handled<BlueprintState, BlueprintEvent>> =>
  handle(blueprintDecider, { type: 'ArrangeBlueprint', ...input }, context, options);
