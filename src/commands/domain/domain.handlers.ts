import type { Engine } from '../../engine.js';
import type { DomainEvent } from '../../events/domain/domain.events.js';
import type { DomainState } from '../../events/domain/domain.state.js';
import type { Untimed } from '../decider.js';
import type { CommandContext, Handled } from '../handleCommand.js';
import { refusals } from '../refusal.js';
import type { AddDomain, RecordDomainCheck, RemoveDomain } from './domain.commands.js';
import { domainDecider } from './domain.decider.js';

type Writing = Pick<Engine, 'handle'>;
type Handling = Promise<Handled<DomainState, DomainEvent>>;

/** @throws Refused: `domain already exists`, `Too many domains` */
export const addDomain = ({ handle }: Writing, input: Omit<Untimed<AddDomain>, 'type'>, context: CommandContext): Handling =>
  handle(domainDecider, { type: 'AddDomain', ...input }, context);

/** @throws Refused: `Domain not found` */
export const recordDomainCheck = (
  { handle }: Writing,
  input: Omit<Untimed<RecordDomainCheck>, 'type'>,
  context: CommandContext,
): Handling => handle(domainDecider, { type: 'RecordDomainCheck', ...input }, context);

/** @throws Refused: `Domain not found`, also when it was removed before */
export const removeDomain = async (
  { handle }: Writing,
  input: Omit<Untimed<RemoveDomain>, 'type'>,
  context: CommandContext,
): Promise<void> => {
  await handle(domainDecider, { type: 'RemoveDomain', ...input }, context, { ifNothing: refusals.domainNotFound() });
};
