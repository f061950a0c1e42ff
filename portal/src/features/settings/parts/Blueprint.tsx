import type { Blueprint as Plan, Website } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { VisuallyHidden } from '../../../theme/VisuallyHidden.js';
import { useAnnounce } from '../../../ui/Announcer.js';
import { differing } from '../../../ui/differing.js';
import { SaveBar } from '../../../ui/SaveBar.js';
import { RowBones, Skeleton } from '../../../ui/skeletons.js';
import { Loaded } from '../../../ui/states.js';
import { useArrange, type Moved } from '../mutations.js';
import { blueprintQuery } from '../queries.js';
import classes from '../SettingsPage.module.css';
import own from './Blueprint.module.css';

type Node = Plan['nodes'][number];

interface Place {
  readonly x: number;
  readonly y: number;
}

const serviceKinds = ['commerce', 'scheduling', 'analytics'] as const;

const size = { width: 176, height: 60 };
const margin = 24;
/** How far a key moves a node. */
const step = 20;

const byKey: Readonly<Partial<Record<string, Place>>> = {
  ArrowLeft: { x: -step, y: 0 },
  ArrowRight: { x: step, y: 0 },
  ArrowUp: { x: 0, y: -step },
  ArrowDown: { x: 0, y: step },
};

interface MapProps {
  readonly plan: Plan;
  readonly websiteId: string;
  readonly mayChange: boolean;
}

const Map = ({ plan, websiteId, mayChange }: MapProps): ReactNode => {
  const { t } = useTranslation();
  const announce = useAnnounce();
  const arrange = useArrange(websiteId);
  const [moved, setMoved] = useState<Moved>({});
  const held = useRef<{ readonly id: string; readonly from: Place; readonly pointer: Place }>(null);

  const nodes = plan.nodes.map((node) => ({ ...node, ...moved[node.id] }));
  // The map begins where its first node does, whatever the numbers are.
  const left = Math.min(...plan.nodes.map(({ x }) => x)) - margin;
  const top = Math.min(...plan.nodes.map(({ y }) => y)) - margin;
  const width = Math.max(...nodes.map(({ x }) => x)) - left + size.width + margin;
  const height = Math.max(...nodes.map(({ y }) => y)) - top + size.height + margin;

  const put = (id: string, { x, y }: Place): Place => {
    const place = { x: Math.max(Math.round(x), left), y: Math.max(Math.round(y), top) };
    setMoved((before) => ({ ...before, [id]: place }));
    return place;
  };
  const onKeyDown = (node: Node, event: KeyboardEvent): void => {
    const by = byKey[event.key];
    if (by === undefined || !mayChange) return;
    event.preventDefault();
    const place = put(node.id, { x: node.x + by.x, y: node.y + by.y });
    announce(t('settings.blueprint.moved', { label: labelOf(node), x: place.x - left - margin, y: place.y - top - margin }));
  };
  const onPointerDown = (node: Node, event: PointerEvent<HTMLElement>): void => {
    if (!mayChange || event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    held.current = { id: node.id, from: node, pointer: { x: event.clientX, y: event.clientY } };
  };
  const onPointerMove = (event: PointerEvent): void => {
    if (held.current === null) return;
    const { id, from, pointer } = held.current;
    put(id, { x: from.x + event.clientX - pointer.x, y: from.y + event.clientY - pointer.y });
  };
  const letGo = (): void => {
    held.current = null;
  };

  /** Parts that every website has, and services, are named by what they are; others have names of their own. */
  const labelOf = ({ kind, label }: Node): string => {
    if (kind === 'content' || kind === 'domains' || kind === 'services') return t(`settings.blueprint.kinds.${kind}`);
    const service = serviceKinds.find((each) => kind === 'service' && each === label);
    return service === undefined ? label : t(`settings.services.kinds.${service}`);
  };
  const parentOf = ({ partOf }: Node): string | undefined => {
    const parent = plan.nodes.find(({ id }) => id === partOf);
    return parent && labelOf(parent);
  };
  const isDirty = plan.nodes.some(({ id, x, y }) => {
    const place = moved[id];
    return place !== undefined && (place.x !== x || place.y !== y);
  });

  return (
    <>
      {mayChange && (
        <p className="small muted" id="blueprint-how">
          {t('settings.blueprint.how')}
        </p>
      )}
      <div className={own['window']} role="group" aria-label={t('settings.blueprint.title')} tabIndex={0}>
        <div className={own['map']} style={{ width, height }}>
          <svg className={own['lines']} aria-hidden="true">
            {nodes.map((node) => {
              const parent = nodes.find(({ id }) => id === node.partOf);
              return (
                parent !== undefined && (
                  <line
                    key={node.id}
                    x1={parent.x - left + size.width / 2}
                    y1={parent.y - top + size.height / 2}
                    x2={node.x - left + size.width / 2}
                    y2={node.y - top + size.height / 2}
                  />
                )
              );
            })}
          </svg>
          {nodes.map((node) => (
            <button
              key={node.id}
              type="button"
              className={[own['node'], own[node.state], mayChange ? own['movable'] : ''].join(' ')}
              style={{ left: node.x - left, top: node.y - top }}
              data-node={node.id}
              aria-describedby={mayChange ? 'blueprint-how' : undefined}
              onKeyDown={(event) => onKeyDown(node, event)}
              onPointerDown={(event) => onPointerDown(node, event)}
              onPointerMove={onPointerMove}
              onPointerUp={letGo}
              onPointerCancel={letGo}
              title={labelOf(node)}
            >
              <b>{labelOf(node)}</b>
              <span className="small muted">
                {t(`settings.blueprint.kinds.${node.kind}`)}, {t(`settings.blueprint.states.${node.state}`)}
                {/* Others see the line. */}
                {node.partOf !== undefined && (
                  <VisuallyHidden>, {t('settings.blueprint.partOf', { parent: parentOf(node) })}</VisuallyHidden>
                )}
              </span>
            </button>
          ))}
        </div>
      </div>
      <SaveBar
        dirty={isDirty}
        saving={arrange.isPending}
        error={arrange.error}
        onDiscard={() => {
          arrange.reset();
          setMoved({});
        }}
        onSave={() => arrange.mutate(moved, { onSuccess: () => setMoved((now) => differing(now, moved)) })}
      />
    </>
  );
};

interface BlueprintProps {
  readonly website: Website;
  readonly mayChange: boolean;
}

/** A map of a website's parts, arranged by mouse and by keys. */
export const Blueprint = ({ website, mayChange }: BlueprintProps): ReactNode => {
  const { t } = useTranslation();
  const blueprint = useQuery(blueprintQuery(website.id));
  return (
    <section className={`card ${classes['section'] ?? ''}`} aria-labelledby="settings-blueprint">
      <header>
        <h2 id="settings-blueprint">{t('settings.blueprint.title')}</h2>
        <p className="muted">{t('settings.blueprint.text')}</p>
      </header>
      <Loaded
        query={blueprint}
        skeleton={
          <Skeleton>
            <RowBones rows={4} />
          </Skeleton>
        }
      >
        {({ data }) => <Map plan={data} websiteId={website.id} mayChange={mayChange} />}
      </Loaded>
    </section>
  );
};
