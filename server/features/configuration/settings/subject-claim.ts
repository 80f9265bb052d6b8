// The subject of users' tokens, as a view of the realm's settings. domain/subjects.ts applies it.
import type { FastifyInstance } from 'fastify';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { getSubjectClaim, putSubjectClaim, type SubjectClaim } from '../../../contract/subject-claim.ts';
import { principalOf } from '../../../domain/principal.ts';
import { bind } from '../../../http/bind.ts';
import type { SettingsService } from './service.ts';

const viewOf = ({ subjectStrategy: strategy, subjectAttribute: attribute }: RealmSettingsDto): SubjectClaim => ({
  strategy,
  ...(strategy === 'attribute' && attribute !== null && { attribute }),
});

export function subjectClaimRoutes(app: FastifyInstance, settings: Pick<SettingsService, 'get' | 'put'>): void {
  bind(app, getSubjectClaim, async ({ params: { realm } }) => viewOf(await settings.get(realm)));
  bind(app, putSubjectClaim, async ({ by, params: { realm }, body: { strategy, attribute = null }, expect, request }) =>
    viewOf(
      await settings.put(
        { principal: principalOf(request), by },
        realm,
        { subjectStrategy: strategy, subjectAttribute: attribute },
        (current) =>
          // the tag covers this view, not all settings
          expect(viewOf(Object(current))),
      ),
    ),
  );
}
