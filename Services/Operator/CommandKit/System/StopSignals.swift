internal import Dispatch
internal import Foundation
internal import Synchronization

/// Ctrl-C, `kill` and a closed terminal, as something to wait for.
package final class StopSignals: Sendable {
    private let stream: AsyncStream<Int32>
    // Written once, never read: it keeps the sources alive.
    nonisolated(unsafe) private let sources: [any DispatchSourceSignal]
    private let flag: Flag

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    package init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        let flag = Flag()
        self.flag = flag
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                flag.isSet.store(true, ordering: .relaxed)
                continuation.yield(number)
            }
            source.activate()
            return source
        }
    }

    /// True when one has come.
    package var haveCome: Bool { flag.isSet.load(ordering: .relaxed) }

    /// Returns at the first signal, also when it came before the call.
    package func wait() async {
        for await _ in stream { return }
    }
}
