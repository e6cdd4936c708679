internal import CommandKit
internal import Dispatch
internal import Synchronization

/// A value, such as a signature, that is computed outside the threads that make the calls; these poll until it is there.
final class SignedAnswer: Sendable {
    enum State: Sendable {
        case pending
        case ready(String)
        case failed(String)
    }

    private let result = Mutex(State.pending)
    /// Signatures are made on as many threads as the machine has cores; below the threads that make the calls.
    private static let queue = DispatchQueue(label: "boxoffice.load.signatures", qos: .utility, attributes: .concurrent)

    init(_ work: @escaping @Sendable () throws -> String) {
        Self.queue.async { [self] in
            let state: State
            do { state = .ready(try work()) } catch { state = .failed(PlainReason.of(error)) }
            result.withLock { $0 = state }
        }
    }

    var state: State { result.withLock { $0 } }
}
