import type { QueryClient } from '@tanstack/react-query';
import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import { matchPath } from 'react-router';
import { queryClient } from './api/queryClient.js';
import { analyticsQuery } from './features/analytics/queries.js';
import { rangeOf, spanOf } from './features/analytics/range.js';
import { billingQuery } from './features/billing/queries.js';
import { contentDocumentQuery, contentListQuery } from './features/content/queries.js';
import { commitsQuery, deploymentsQuery } from './features/deployments/queries.js';
import { mediaQuery } from './features/media/queries.js';
import { seoQuery } from './features/seo/queries.js';
import { deliveryQuery, historyQuery, savedDeliveryQuery } from './features/delivery/queries.js';
import { documentsQuery } from './features/documents/queries.js';
import { homeQueries, onlyWebsiteOf, seesAgency } from './features/home/queries.js';
import { invitationQuery } from './features/invitation/queries.js';
import { meQuery } from './features/me/queries.js';
import { featuresQuery, templatesQuery } from './features/newWebsite/queries.js';
import { provisioningQuery } from './features/provisioning/queries.js';
import { lastSeenQuery, visibleChangesQuery } from './features/status/queries.js';
import { apiKeysQuery } from './features/apiKeys/queries.js';
import { auditFilterIn } from './features/audit/filter.js';
import { auditQuery, websiteChoiceQuery } from './features/audit/queries.js';
import { domainsQuery } from './features/settings/queries.js';
import { clientQuery, clientsQuery, websitesOfClientQuery } from './features/clients/queries.js';
import { peopleQuery } from './features/people/queries.js';
import { transfersQuery } from './features/transfer/queries.js';
import { outboxQuery } from './features/outbox/queries.js';
import { websiteQuery } from './features/website/queries.js';
import { filterIn } from './features/websites/filter.js';
import { websitesQuery } from './features/websites/queries.js';
import { base } from './page.js';
import { paths, pathTo, type PageName } from './paths.js';
import { isSignedIn } from './session/session.js';

/** Who may open a page; the service decides what they get. */
export type Audience = 'everybody' | 'signedIn' | 'admins';

/** Where a page stands: by itself, among the pages of a website, or among those of the agency. */
export type Place = 'alone' | 'website' | 'agency';

/** What a page asks for, as `queryOptions` makes it. */
type Question = Parameters<QueryClient['query']>[0];

/** A list that is read by pages, as `infiniteQueryOptions` makes it. */
type ListQuestion = Parameters<QueryClient['infiniteQuery']>[0];

type Params = Readonly<Record<string, string | undefined>>;

export interface Route {
  readonly page: PageName;
  readonly who: Audience;
  readonly place: Place;
  readonly Component: LazyExoticComponent<ComponentType>;
  /** Its title, as a key of the texts. */
  readonly title: `titles.${PageName}`;
  readonly load: () => Promise<unknown>;
  /** What it asks for first: asked while its code comes. */
  readonly data: (params: Params) => readonly object[] | Promise<readonly object[]>;
}

type LoadPage = () => Promise<{ default: ComponentType }>;

/** A page made of Mantine's components, with what they need. */
const themed =
  (load: LoadPage): LoadPage =>
  async () => {
    const [{ default: Page }, { Themed }] = await Promise.all([load(), import('./theme/Themed.js')]);
    return {
      default: () => (
        <Themed>
          <Page />
        </Themed>
      ),
    };
  };

const plainRoute = (page: PageName, who: Audience, place: Place, load: LoadPage, data: Route['data'] = () => []): Route => ({
  page,
  who,
  place,
  title: `titles.${page}`,
  load,
  Component: lazy(load),
  data,
});

const route = (page: PageName, who: Audience, place: Place, load: LoadPage, data?: Route['data']): Route =>
  plainRoute(page, who, place, themed(load), data);

/** Of each page: its path, who may open it, where it stands, its code and its data. */
export const routes: readonly Route[] = [
  route(
    'home',
    'signedIn',
    'agency',
    () => import('./features/home/HomePage.js'),
    async () => {
      const me = await queryClient.query(meQuery);
      const only = onlyWebsiteOf(me);
      if (seesAgency(me) || only === undefined) return homeQueries(me);
      // The page leads there.
      startLoading(`${base}/app${pathTo('status', { websiteId: only.id })}`);
      return [];
    },
  ),
  route('signIn', 'everybody', 'alone', () => import('./features/session/SignInPage.js')),
  route('callback', 'everybody', 'alone', () => import('./features/session/CallbackPage.js')),
  route(
    'outbox',
    'admins',
    'agency',
    () => import('./features/outbox/OutboxPage.js'),
    () => [outboxQuery(new URLSearchParams(location.search).get('to') ?? '')],
  ),
  route(
    'people',
    'signedIn',
    'website',
    () => import('./features/people/PeoplePage.js'),
    ({ websiteId = '' }) => [peopleQuery(websiteId)],
  ),
  route(
    'transfer',
    'admins',
    'website',
    () => import('./features/transfer/TransferPage.js'),
    ({ websiteId = '' }) => [transfersQuery(websiteId), peopleQuery(websiteId)],
  ),
  route(
    'clients',
    'admins',
    'agency',
    () => import('./features/clients/ClientsPage.js'),
    () => [clientsQuery(new URLSearchParams(location.search).get('q') ?? '')],
  ),
  route(
    'client',
    'admins',
    'agency',
    () => import('./features/clients/ClientPage.js'),
    ({ clientId = '' }) => [clientQuery(clientId), websitesOfClientQuery(clientId)],
  ),
  route(
    'apiKeys',
    'signedIn',
    'agency',
    () => import('./features/apiKeys/ApiKeysPage.js'),
    () => [apiKeysQuery()],
  ),
  route('connect', 'signedIn', 'agency', () => import('./features/connect/ConnectPage.js')),
  route(
    'audit',
    'admins',
    'agency',
    () => import('./features/audit/AuditPage.js'),
    () => [auditQuery(auditFilterIn(new URLSearchParams(location.search))), websiteChoiceQuery()],
  ),
  // The page that clients open most is light: it does without Mantine.
  plainRoute(
    'status',
    'signedIn',
    'website',
    () => import('./features/status/StatusPage.js'),
    ({ websiteId = '' }) => [
      websiteQuery(websiteId),
      deliveryQuery(websiteId),
      visibleChangesQuery(websiteId),
      lastSeenQuery(websiteId),
    ],
  ),
  route(
    'websites',
    'admins',
    'agency',
    () => import('./features/websites/WebsitesPage.js'),
    () => [websitesQuery(filterIn(new URLSearchParams(location.search)))],
  ),
  route(
    'delivery',
    'admins',
    'website',
    () => import('./features/delivery/DeliveryPage.js'),
    ({ websiteId = '' }) => [websiteQuery(websiteId), savedDeliveryQuery(websiteId)],
  ),
  route(
    'history',
    'admins',
    'website',
    () => import('./features/delivery/HistoryPage.js'),
    ({ websiteId = '' }) => [websiteQuery(websiteId), historyQuery(websiteId)],
  ),
  route(
    'newWebsite',
    'admins',
    'agency',
    () => import('./features/newWebsite/NewWebsitePage.js'),
    () => [featuresQuery, templatesQuery],
  ),
  route(
    'provisioning',
    'signedIn',
    'website',
    () => import('./features/provisioning/ProvisioningPage.js'),
    ({ websiteId = '' }) => [websiteQuery(websiteId), provisioningQuery(websiteId)],
  ),
  route(
    'analytics',
    'signedIn',
    'website',
    () => import('./features/analytics/AnalyticsPage.js'),
    ({ websiteId = '' }) => [
      websiteQuery(websiteId),
      analyticsQuery(websiteId, rangeOf(spanOf(new URLSearchParams(location.search).get('days')))),
    ],
  ),
  route(
    'seo',
    'signedIn',
    'website',
    () => import('./features/seo/SeoPage.js'),
    ({ websiteId = '' }) => [seoQuery(websiteId)],
  ),
  route(
    'deployments',
    'signedIn',
    'website',
    () => import('./features/deployments/DeploymentsPage.js'),
    ({ websiteId = '' }) => [websiteQuery(websiteId), deploymentsQuery(websiteId), commitsQuery(websiteId)],
  ),
  route(
    'billing',
    'signedIn',
    'website',
    () => import('./features/billing/BillingPage.js'),
    ({ websiteId = '' }) => [websiteQuery(websiteId), billingQuery(websiteId)],
  ),
  route(
    'content',
    'signedIn',
    'website',
    () => import('./features/content/ContentPage.js'),
    ({ websiteId = '' }) => [websiteQuery(websiteId), contentListQuery(websiteId, 'content'), templatesQuery],
  ),
  route(
    'contentDocument',
    'signedIn',
    'website',
    () => import('./features/content/ContentDocumentPage.js'),
    ({ websiteId = '', documentId = '' }) => [
      websiteQuery(websiteId),
      contentDocumentQuery(websiteId, 'content', documentId),
      templatesQuery,
    ],
  ),
  route(
    'marketing',
    'signedIn',
    'website',
    () => import('./features/content/MarketingPage.js'),
    ({ websiteId = '' }) => [websiteQuery(websiteId), contentListQuery(websiteId, 'marketing')],
  ),
  route(
    'marketingDocument',
    'signedIn',
    'website',
    () => import('./features/content/MarketingDocumentPage.js'),
    ({ websiteId = '', documentId = '' }) => [websiteQuery(websiteId), contentDocumentQuery(websiteId, 'marketing', documentId)],
  ),
  route(
    'media',
    'signedIn',
    'website',
    () => import('./features/media/MediaPage.js'),
    ({ websiteId = '' }) => [websiteQuery(websiteId), mediaQuery(websiteId)],
  ),
  route(
    'settings',
    'signedIn',
    'website',
    () => import('./features/settings/SettingsPage.js'),
    ({ websiteId = '' }) => [websiteQuery(websiteId), domainsQuery(websiteId)],
  ),
  route(
    'invitation',
    'signedIn',
    'alone',
    () => import('./features/invitation/InvitationPage.js'),
    ({ invitationId = '' }) => [invitationQuery(invitationId)],
  ),
  route(
    'documents',
    'signedIn',
    'website',
    () => import('./features/documents/DocumentsPage.js'),
    ({ websiteId = '' }) => [websiteQuery(websiteId), documentsQuery(websiteId)],
  ),
];

/** Of two that fit, the one whose path says more: `/websites/new` before `/websites/:websiteId`. */
const findRoute = (path: string): { route: Route; params: Params } | undefined =>
  routes
    .flatMap((candidate) => {
      const match = matchPath(paths[candidate.page], path);
      return match === null ? [] : [{ route: candidate, params: match.params }];
    })
    .sort((one, other) => Object.keys(one.params).length - Object.keys(other.params).length)[0];

const isList = (query: object): query is ListQuestion => 'initialPageParam' in query;

/** What went wrong shows where it is needed. */
const ask = (queries: readonly object[]): void => {
  for (const query of queries) {
    const answer = isList(query) ? queryClient.infiniteQuery(query) : queryClient.query(query as Question);
    answer.catch(() => undefined);
  }
};

/** Asks for the code and the data of a page at the same time. */
export const startLoading = (pathname: string): void => {
  const found = findRoute(pathname.slice(`${base}/app`.length) || '/');
  if (found === undefined) return;
  found.route.load().catch(() => undefined);
  if (!isSignedIn()) return;
  // Only the frame asks who is signed in.
  if (found.route.place !== 'alone') ask([meQuery]);
  Promise.resolve(found.route.data(found.params)).then(ask, () => undefined);
};
