internal import Octets
internal import EntitlementClient
public import Foundation

/// The vendor's SDK at source level: an app that was written for the SDK uses this module instead, without other changes (clients §5).
/// `AccessEnablerRestVersion` = `v2` in the app's `Info.plist` makes it speak version 2 of the servers' API.
///
/// Operations may be called from any thread and return at once; they take effect in the order of their calls. Results come to the delegates, on the
/// main thread. An unusable argument, such as `nil` or a value of another type, ends with the operation's own callback and its error code.
open class AccessEnabler: NSObject, @unchecked Sendable {
    // Everything that changes is behind a lock, or on the main actor.
    typealias Operation = @MainActor @Sendable (DelegateClient) -> Void

    private let listeners = Listeners()
    private let operations: AsyncStream<Operation>.Continuation
    /// Arguments of `getMetadata` that are under way, as the app gave them.
    let givenArguments = GivenArguments()

    /// Receives results. Held weakly.
    open var delegate: (any EntitlementDelegate)? {
        get { listeners.delegate }
        set { listeners.delegate = newValue }
    }

    /// Receives advanced codes. Held weakly.
    open var statusDelegate: (any EntitlementStatus)? {
        get { listeners.statusDelegate }
        set { listeners.statusDelegate = newValue }
    }

    /// Without a software statement: for apps that sign their calls with a key pair.
    public override convenience init() { self.init(nil) }

    /// - Parameter softwareStatement: As the application's registration gave it.
    public init(_ softwareStatement: String!) {
        let (stream, operations) = AsyncStream<Operation>.makeStream()
        self.operations = operations
        super.init()
        let (listeners, arguments, statement) = (listeners, givenArguments, softwareStatement ?? "")
        Task { @MainActor in
            let client = DelegateClient(softwareStatement: statement, environment: PlatformEnvironment.current())
            let adapter = DelegateAdapter(listeners, arguments)
            client.delegate = adapter
            client.statusDelegate = adapter
            for await operation in stream { operation(client) }
            // Kept until the last callback of the running operations was delivered.
            withExtendedLifetime(adapter) {}
        }
    }

    deinit { operations.finish() }

    /// Runs an operation on the main actor, after those that were called before it.
    func run(_ operation: @escaping Operation) { operations.yield(operation) }

    /// Calls the delegate, after all earlier calls.
    func tell(_ callback: @escaping @MainActor @Sendable (any EntitlementDelegate) -> Void) {
        let listeners = listeners
        operations.yield { _ in if let delegate = listeners.delegate { callback(delegate) } }
    }

    /// Calls the delegate of advanced codes, after all earlier calls.
    func tellStatus(_ status: [String: String]) {
        let listeners = listeners
        operations.yield { _ in listeners.statusDelegate?.status(status) }
    }
}

/// The listener; may be set on any thread.
final class Listeners: @unchecked Sendable {
    private let lock = NSLock()
    private weak var ownDelegate: (any EntitlementDelegate)?
    private weak var ownStatusDelegate: (any EntitlementStatus)?

    var delegate: (any EntitlementDelegate)? {
        get { lock.withLock { ownDelegate } }
        set { lock.withLock { ownDelegate = newValue } }
    }

    var statusDelegate: (any EntitlementStatus)? {
        get { lock.withLock { ownStatusDelegate } }
        set { lock.withLock { ownStatusDelegate = newValue } }
    }
}

/// The arguments of `getMetadata`, so that the callback returns them unchanged.
final class GivenArguments: @unchecked Sendable {
    static let mark = "boxoffice.call"

    private let lock = NSLock()
    private var arguments: [Int64: [AnyHashable: Any]] = [:]
    private var last: Int64 = 0

    func keep(_ given: [AnyHashable: Any]) -> Int64 {
        lock.withLock {
            last += 1
            arguments[last] = given
            return last
        }
    }

    func take(_ number: Int64) -> [AnyHashable: Any]? { lock.withLock { arguments.removeValue(forKey: number) } }
}
