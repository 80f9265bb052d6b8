// A page that failed: what happened, and what to do next. The rest of the console goes on.
import { Component, type ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { ProblemNote } from '../ui/state.tsx';

/** `key` it by the address: another page begins anew. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { failure?: unknown }> {
  override state: { failure?: unknown } = {};

  static getDerivedStateFromError(failure: unknown) {
    return { failure };
  }

  override componentDidMount() {
    addEventListener('popstate', this.forget);
  }
  override componentWillUnmount() {
    removeEventListener('popstate', this.forget);
  }
  readonly forget = () => {
    if (this.state.failure !== undefined) this.setState({ failure: undefined });
  };

  override render() {
    const { failure } = this.state;
    if (failure === undefined) return this.props.children;
    // a chunk that is gone: the server has a newer console
    const outdated = failure instanceof TypeError && /import|module/i.test(failure.message);
    return (
      <div className="page narrow">
        <h1>{outdated ? 'There is a newer console' : 'This page failed'}</h1>
        {outdated ? <p>The server was updated since this page was opened.</p> : <ProblemNote problem={failure} />}
        <div className="row">
          <Button variant="primary" onPress={() => location.reload()}>
            Reload
          </Button>
          <Button onPress={this.forget}>Try again</Button>
        </div>
      </div>
    );
  }
}
