// English texts of signing in by other identity providers: a part of texts-en.ts.
export const brokering = {
  'identities.title': 'Accounts elsewhere',
  'identities.linked': 'Connected {when}',
  'identities.remove': 'Disconnect',
  'provider.way': 'Sign in with {provider}',
  'provider.title': 'Sign in with {provider}',
  'provider.choose': 'Choose how to sign in',
  'provider.lead': 'You were sent to {provider} to sign in there.',
  'provider.goOn': 'Go to {provider}',
  'provider.none': 'This way to sign in is not there any more. Choose another one.',
  'provider.refused': 'You were not signed in by {provider}. Try again, or sign in another way.',
  'provider.notConnected': 'There is an account with your address here already. Sign in to it as you do otherwise.',
  'provider.review': 'Complete your account',
  'provider.reviewLead': '{provider} has told who you are. Add what is lacking.',
  'provider.create': 'Create the account',
  'provider.link': 'Is this account yours?',
  'provider.linkLead':
    'There is an account for {email} here already. Enter its password to connect it with {them} at {provider}: whoever signs in there is then signed in here.',
  'provider.connect': 'Connect and sign in',
  'provider.byMail': 'Send me a code by e-mail instead',
  'provider.wrongPassword': 'The password is wrong, or this account cannot be connected at the moment.',
  'provider.over': 'This sign-in does not go on here',
  'provider.overLead':
    'It was begun in another browser, took too long, or has gone on already. Nobody was signed in by it just now.',
} as const;
