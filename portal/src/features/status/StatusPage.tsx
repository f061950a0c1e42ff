import { DoorstepError, type Website } from '@doorstep/sdk';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { PageTitle } from '../../ui/PageTitle.js';
import { Bone, HeadingBone, RowBones, Skeleton } from '../../ui/skeletons.js';
import { Loaded } from '../../ui/states.js';
import { deliveryQuery } from '../delivery/queries.js';
import { websiteQuery } from '../website/queries.js';
import { NoPlan } from './parts/NoPlan.js';
import { Standing } from './parts/Standing.js';
import { Status } from './parts/Status.js';
import { lastSeenQuery, visibleChangesQuery } from './queries.js';
import classes from './status.module.css';

const Bones = (): ReactNode => (
  <Skeleton>
    <Bone width="120px" />
    <HeadingBone />
    <Bone width="80%" />
    <Bone height="8px" />
    <RowBones rows={6} />
  </Skeleton>
);

/** When is it ready, and what is open? */
const StatusPage = (): ReactNode => {
  const { websiteId = '' } = useParams();
  const website = useQuery(websiteQuery(websiteId));
  const delivery = useQuery(deliveryQuery(websiteId));
  const changes = useQuery(visibleChangesQuery(websiteId));
  const lastSeen = useQuery(lastSeenQuery(websiteId));
  const hasNoPlan = delivery.error instanceof DoorstepError && delivery.error.code === 'delivery_not_set_up';

  const content = (found: Website): ReactNode => {
    if (hasNoPlan) return <NoPlan website={found} />;
    return (
      <Loaded query={delivery} skeleton={<Bones />}>
        {(block) =>
          // What is new does not push the rest down when it comes; without it, and while it is asked again, the plan stands.
          !changes.isFetched || !lastSeen.isFetched ? (
            <Bones />
          ) : (
            <>
              <Standing website={found} />
              <Status
                key={found.id}
                website={found}
                block={block}
                changes={changes.data?.changes ?? []}
                areReceiptsKept={changes.data?.areReceiptsKept ?? false}
                lastSeen={lastSeen.data ?? null}
              />
            </>
          )
        }
      </Loaded>
    );
  };

  return (
    <div className={classes['page']}>
      <Loaded query={website} skeleton={<Bones />}>
        {(found) => (
          <>
            <PageTitle title="titles.status" of={found.name} />
            {content(found)}
          </>
        )}
      </Loaded>
    </div>
  );
};

export default StatusPage;
