// Buttons, and links that look like one. A page has one primary button at most.
import type { ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaProps } from 'react-aria-components/Button';
import { Link as RouterLink } from 'wouter';
import { Icon, type IconName } from './icons.tsx';

interface Look {
  variant?: 'primary' | 'quiet' | 'danger' | 'danger primary';
  icon?: IconName;
  small?: boolean;
  children?: ReactNode;
}

const classOf = ({ variant, small }: Pick<Look, 'variant' | 'small'>, more?: string): string =>
  ['button', variant, small && 'small', more].filter(Boolean).join(' ');

export type ButtonProps = Look & Omit<AriaProps, 'className' | 'children' | 'style'> & { className?: string };

export function Button({ variant, icon, small, children, className, ...props }: ButtonProps) {
  return (
    <AriaButton {...props} className={classOf({ ...(variant && { variant }), ...(small && { small }) }, className)}>
      {icon && <Icon name={icon} />}
      {children}
    </AriaButton>
  );
}

/** A button with an icon alone; its name is read aloud and shown as a tip. */
export function IconButton({
  label,
  icon,
  small,
  className,
  variant = 'quiet',
  ...props
}: Omit<ButtonProps, 'children'> & { label: string; icon: IconName }) {
  return (
    <AriaButton
      {...props}
      aria-label={label}
      className={classOf({ variant, ...(small && { small }) }, ['icon', className].filter(Boolean).join(' '))}
    >
      <Icon name={icon} />
    </AriaButton>
  );
}

/** @param to an address of the console */
export function ButtonLink({ to, variant, icon, small, children }: Look & { to: string }) {
  return (
    <RouterLink href={to} className={classOf({ ...(variant && { variant }), ...(small && { small }) })}>
      {icon && <Icon name={icon} />}
      {children}
    </RouterLink>
  );
}
