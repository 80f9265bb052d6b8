// A wizard that makes one object: what is it, its settings in one step or more, the server's plan, then a last step that tries
// it out. The address has the choice, the step and the object that was made.
import { useMutation } from '@tanstack/react-query';
import { type ComponentType, type FormEvent, type ReactNode, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { call, type ServerProblem } from '../../api/client.ts';
import { readAnew } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { kindInSection } from '../../kinds/all.ts';
import { createCommands, listCommands } from '../../kinds/commands.ts';
import { contractFaults } from '../../kinds/create.tsx';
import type { KindEntry, LoadedKind, Row } from '../../kinds/entry.ts';
import { FaultNote, isOfFields, useFaultFocus } from '../../kinds/fault-note.tsx';
import { useKind, useObject } from '../../kinds/loaded.ts';
import { idOf } from '../../kinds/pages.tsx';
import { documentOf, faultsOf, keyOf, nameIn } from '../../kinds/plan.ts';
import { Review } from '../../kinds/review.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import { type Answers, type Ask, AskField, applicableAsks, missingAnswers, placeFaults, withFresh } from './asks.tsx';
import { keepSecret, keptSecret, randomText, useDraft } from './draft.ts';
import { Wizard } from './frame.tsx';

export interface AskStep {
  id: string;
  title: string;
  asks: readonly Ask[];
  /** The work that is done elsewhere first, by the answers so far. */
  first?: (answers: Answers, realm: string) => ReactNode;
}

/** Tries out the answers before they are saved. */
export type TryOut = (body: Row, realm: string) => ReactNode;
export interface Variant {
  id: string;
  label: string;
  help: string;
  /** The section of the kind that is made. */
  section: string;
  steps: readonly AskStep[];
  body: (answers: Answers, realm: string) => Row;
  /** The object has a secret that this page makes up, and shows once it is stored. */
  makesSecret?: true;
  /** Instead of the kind's own way to create; it then has no plan, unless `preview` says what it would write. */
  save?: (realm: string, answers: Answers) => Promise<Row>;
  /** The fields that `save` would write. */
  preview?: (realm: string, answers: Answers) => Promise<Row>;
}
export interface EndProps {
  realm: string;
  variant: Variant;
  entry: KindEntry;
  id: string;
  row: Row;
  /** Until the page is loaded anew. */
  secret: string | undefined;
}
export interface WizardSpec {
  name: string;
  title: string;
  lead: string;
  /** The title of the first step, if there is a choice. */
  choose: string;
  /** The title of the last step. */
  end: string;
  variants: readonly Variant[];
  /** In the last step, below the questions. */
  tryOut?: TryOut;
  End: ComponentType<EndProps>;
}

const END = 'done';
const CHOOSE = 'choose';

function useWizardAddress() {
  const [path, navigate] = useLocation();
  const [search] = useSearchParams();
  const to = (query: Record<string, string>) => `${path}?${new URLSearchParams(query)}`;
  return { path, search, to, go: (query: Record<string, string>) => navigate(to(query)) };
}

export function CreateWizard({ spec, realm }: { spec: WizardSpec; realm: string }) {
  const { title, lead, variants, choose, end } = spec;
  const may = useMay();
  const { path, search, to } = useWizardAddress();
  const allowed = variants.filter(({ section }) => may(realm, kindInSection(section)?.write ?? null));
  const chosen = allowed.length === 1 ? allowed[0] : allowed.find(({ id }) => id === search.get('variant'));
  const isChoice = variants.length > 1;
  const entry = chosen && kindInSection(chosen.section);
  const wanted = search.get('step');
  const at = !chosen
    ? CHOOSE
    : wanted === END && search.has('id')
      ? END
      : (chosen.steps.find(({ id }) => id === wanted)?.id ?? chosen.steps[0]?.id ?? END);
  const place = chosen?.steps.findIndex(({ id }) => id === at) ?? -1;
  const steps = [
    ...(isChoice ? [{ id: CHOOSE, title: choose, to: at === END ? undefined : path }] : []),
    ...(chosen?.steps ?? [{ id: 'settings', title: 'Settings' }]).map((step, of) => ({
      id: step.id,
      title: step.title,
      to: chosen && at !== END && of < place ? to({ variant: chosen.id, step: step.id }) : undefined,
    })),
    { id: END, title: end },
  ];
  const first = kindInSection((chosen ?? variants[0])?.section ?? '');
  return (
    <Wizard
      realm={realm}
      title={title}
      lead={lead}
      steps={steps}
      at={at}
      actions={first && <AsCommand commands={() => listCommands(first, realm)} />}
    >
      {allowed.length === 0 ? (
        <Note>You hold none of the permissions that this needs. Ask an administrator of the realm for one.</Note>
      ) : !chosen || !entry ? (
        <ul className="choice-cards">
          {allowed.map(({ id, label, help, steps: [firstStep] }) => (
            <li key={id}>
              <Link href={to({ variant: id, ...(firstStep && { step: firstStep.id }) })} className="choice-card">
                <strong>{label}</strong>
                <span className="soft small">{help}</span>
              </Link>
            </li>
          ))}
        </ul>
      ) : at === END ? (
        <End spec={spec} realm={realm} variant={chosen} entry={entry} id={search.get('id') ?? ''} />
      ) : (
        <Settings key={chosen.id} spec={spec} realm={realm} variant={chosen} entry={entry} at={at} />
      )}
    </Wizard>
  );
}

function End({
  spec,
  realm,
  variant,
  entry,
  id,
}: {
  spec: WizardSpec;
  realm: string;
  variant: Variant;
  entry: KindEntry;
  id: string;
}) {
  const object = useObject(entry, { realm, key: id });
  if (object.error) return <ProblemNote problem={object.error} retry={() => void object.refetch()} />;
  if (!object.data?.body) return <Loading lines={6} />;
  return (
    <div className="form">
      <spec.End
        realm={realm}
        variant={variant}
        entry={entry}
        id={id}
        row={object.data.body}
        secret={keptSecret(realm, id)}
      />
    </div>
  );
}

interface SettingsProps {
  spec: WizardSpec;
  realm: string;
  variant: Variant;
  entry: KindEntry;
  at: string;
}

function Settings(props: SettingsProps) {
  const kind = useKind(props.entry);
  return kind ? <SettingsForm {...props} kind={kind} /> : <Loading lines={6} />;
}

function SettingsForm({ spec, realm, variant, entry, at, kind }: SettingsProps & { kind: LoadedKind }) {
  const { path, go, to } = useWizardAddress();
  const asks = variant.steps.flatMap((step) => step.asks);
  const secretNames = new Set(asks.filter(({ is }) => is === 'secret' || is === 'long-secret').map(({ name }) => name));
  const draft = useDraft(realm, `${spec.name}.${variant.id}`, (name) => secretNames.has(name));
  const [secret] = useState(randomText);
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [others, setOthers] = useState<ReadonlyMap<string, string>>(new Map());
  const [isReviewed, setReviewed] = useState(false);
  useFaultFocus(faults);
  const answers = withFresh(asks, draft.answers);
  const body: Row = { ...variant.body(answers, realm), ...(variant.makesSecret && { secret }) };
  const place = variant.steps.findIndex(({ id }) => id === at);
  const step = variant.steps[place];
  const isLast = place === variant.steps.length - 1;
  const back = place > 0 ? to({ variant: variant.id, step: variant.steps[place - 1]?.id ?? '' }) : path;

  /** A fault in an earlier step is shown there. */
  const showFaulty = (placed: ReadonlyMap<string, string>) => {
    const faulty = variant.steps.find((of) => of.asks.some(({ name }) => placed.has(name)));
    if (faulty && faulty.id !== at) go({ variant: variant.id, step: faulty.id });
  };
  const save = useMutation<Row, ServerProblem>({
    mutationFn: async () => {
      if (variant.save) return variant.save(realm, answers);
      const route = kind.routes.create ?? kind.routes.upsert;
      if (!route) throw new Error(`${entry.many} can’t be created here`);
      const made = await call(route, { params: { realm }, body });
      return made.body as Row;
    },
    onSuccess: async (row) => {
      const id = idOf(entry, row);
      if (variant.makesSecret) keepSecret(realm, id, secret);
      await readAnew(realm);
      draft.clear();
      say(`Created the ${entry.label}.`);
      go({ variant: variant.id, step: END, id });
    },
    onError: (problem) => {
      const { placed, rest } = placeFaults(faultsOf(problem), asks);
      setFaults(placed);
      setOthers(rest);
      if (problem.problem?.errors) setReviewed(false);
      showFaulty(placed);
    },
  });

  const preview = useMutation<Row | undefined, ServerProblem>({
    mutationFn: async () => variant.preview?.(realm, answers),
    onSuccess: () => setReviewed(true),
    onError: (problem) => {
      const { placed, rest } = placeFaults(faultsOf(problem), asks);
      setFaults(placed);
      setOthers(rest);
      showFaulty(placed);
    },
  });

  if (!step) return null;
  const here = applicableAsks(step.asks, answers);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.reset();
    const open = applicableAsks(isLast ? asks : step.asks, answers);
    const found = placeFaults(variant.save ? new Map() : contractFaults(kind.input, body), open);
    const all = new Map([...found.placed, ...missingAnswers(open, answers)]);
    const rest = isLast ? found.rest : new Map();
    setFaults(all);
    setOthers(rest);
    if (all.size > 0) showFaulty(all);
    if (all.size > 0 || rest.size > 0) return;
    if (!isLast) go({ variant: variant.id, step: variant.steps[place + 1]?.id ?? END });
    else if (variant.preview) preview.mutate();
    else if (variant.save) save.mutate();
    else setReviewed(true);
  };
  const previewed = preview.data;
  const hasPlan = !variant.save || variant.preview !== undefined;
  const written = variant.save ? (previewed ?? {}) : body;
  const document = hasPlan ? documentOf(entry, kind, written) : undefined;
  return (
    <form className="form" onSubmit={submit} noValidate>
      {others.size > 0 && <FaultNote faults={others} />}
      {save.error && !isReviewed && !isOfFields(save.error) && <ProblemNote problem={save.error} />}
      {preview.error && !isReviewed && !isOfFields(preview.error) && <ProblemNote problem={preview.error} />}
      {step.first?.(answers, realm)}
      {here.length > 0 && (
        <Panel plain>
          <div className="form-group">
            {here.map((ask) => (
              <AskField
                key={ask.name}
                ask={ask}
                realm={realm}
                value={answers[ask.name]}
                fault={faults.get(ask.name)}
                onChange={(value) => draft.answer(ask.name, value)}
              />
            ))}
          </div>
        </Panel>
      )}
      {isLast && spec.tryOut?.(body, realm)}
      <div className="form-actions">
        <span className="said" role="status">
          {faults.size > 0
            ? `${faults.size} ${faults.size === 1 ? 'answer needs' : 'answers need'} a change.`
            : isLast && hasPlan
              ? 'The next step shows the server’s plan.'
              : ''}
        </span>
        {(place > 0 || spec.variants.length > 1) && <ButtonLink to={back}>Back</ButtonLink>}
        <Button type="submit" variant="primary" isDisabled={save.isPending || preview.isPending}>
          {save.isPending || preview.isPending
            ? 'Asking the server…'
            : !isLast
              ? 'Continue'
              : hasPlan
                ? 'Review and create'
                : 'Create'}
        </Button>
      </div>
      {isReviewed && (
        <Review
          title={`Create ${entry.one}`}
          realm={realm}
          document={document}
          changes={written}
          before={{}}
          save="Create"
          one={{
            name: nameIn(entry, written),
            isNew: variant.save === undefined && kind.routes.create !== undefined,
            key: keyOf(entry),
          }}
          onFaults={(found) => {
            const { placed, rest } = placeFaults(found, asks);
            setFaults(placed);
            setOthers(rest);
            setReviewed(false);
            showFaulty(placed);
          }}
          onSave={() => save.mutate()}
          onClose={() => setReviewed(false)}
          isSaving={save.isPending}
          problem={save.error}
          commands={() => createCommands(entry, realm, undefined, written, document)}
        />
      )}
    </form>
  );
}
