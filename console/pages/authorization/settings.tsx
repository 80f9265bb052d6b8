// How requests are decided where permissions say nothing, and how several decide together.
import { type FormEvent, useMemo, useState } from 'react';
import { AuthorizationSettingsInput } from '../../../server/contract/authorization-services.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { getAuthorizationSettings, putAuthorizationSettings } from '../../generated/routes.ts';
import { curlOf, documentCommand, realmManifest } from '../../kinds/commands.ts';
import type { Row } from '../../kinds/entry.ts';
import { formFields, grouped } from '../../kinds/fields.ts';
import { changedFields, FormFields } from '../../kinds/form.tsx';
import { faultsOf } from '../../kinds/plan.ts';
import { Review } from '../../kinds/review.tsx';
import { Button } from '../../ui/button.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import type { Service } from './model.ts';

export function ServiceSettings({
  realm,
  id,
  service,
  isWriter,
}: {
  realm: string;
  id: string;
  service: Service;
  isWriter: boolean;
}) {
  const params = { realm, clientId: id };
  // its own tag: that of the services as a whole changes with every item
  const read = useRead(getAuthorizationSettings, { params });
  const [edits, setEdits] = useState<Row>({});
  const [review, setReview] = useState(false);
  const save = useWrite(putAuthorizationSettings);
  const groups = useMemo(() => grouped(formFields(AuthorizationSettingsInput, {})), []);
  const before: Row = service.settings;
  const changes = changedFields(before, edits);
  const isChanged = Object.keys(changes).length > 0;
  const document = {
    authorizationServices: [{ clientId: service.clientId, settings: { ...before, ...changes } }],
  };
  const etag = read.data?.etag;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.reset();
    setReview(true);
  };
  return (
    <form className="form" onSubmit={submit} noValidate>
      {read.error && <ProblemNote problem={read.error} />}
      {!isWriter && <Note>You may read the settings. Changing them needs the permission clients:write.</Note>}
      <FormFields
        realm={realm}
        groups={groups}
        before={before}
        edits={edits}
        onEdit={(name, value) => setEdits((now) => ({ ...now, [name]: value }))}
        faults={faultsOf(save.error)}
        isDisabled={!isWriter}
      />
      {isWriter && (
        <div className="form-actions">
          <span className="said" role="status">
            {isChanged ? 'The settings are changed.' : 'Nothing is changed yet.'}
          </span>
          {isChanged && <Button onPress={() => setEdits({})}>Discard</Button>}
          <Button type="submit" variant="primary" isDisabled={!isChanged || !read.data}>
            Review and save
          </Button>
        </div>
      )}
      {review && (
        <Review
          title="Save the settings"
          realm={realm}
          document={document}
          changes={changes}
          before={before}
          save="Save"
          onSave={() =>
            save.mutate(
              { params, body: changes, ...(etag !== undefined && { headers: { 'if-match': etag } }) },
              {
                onSuccess: () => {
                  setReview(false);
                  setEdits({});
                  say('Saved the settings.');
                },
              },
            )
          }
          onClose={() => setReview(false)}
          isSaving={save.isPending}
          problem={save.error}
          commands={async () => ({
            realmctl: documentCommand(realm, document),
            curl: curlOf(putAuthorizationSettings, params, changes),
            manifest: await realmManifest(realm, document),
          })}
        />
      )}
    </form>
  );
}
