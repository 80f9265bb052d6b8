// Settings that are copied into another program, one by one.
import { CopyButton } from '../../ui/code.tsx';

export function Settings({ settings }: { settings: readonly { name: string; value: string }[] }) {
  return (
    <dl className="facts">
      {settings.map(({ name, value }) => (
        <div key={`${name} ${value}`}>
          <dt>{name}</dt>
          <dd className="copied">
            <code>{value}</code>
            <CopyButton text={value} label={`Copy ${name}`} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
