internal import SandboxKit
internal import Synchronization

/// The pending faults of each endpoint, first in first out.
final class AppleFaults: Sendable {
    private let queues = Mutex<[AppleEndpoint: [AppleFault]]>([:])

    func append(_ faults: [AppleFault], for endpoint: AppleEndpoint) {
        queues.withLock { $0[endpoint, default: []] += faults }
    }

    func reset(_ endpoint: AppleEndpoint? = nil) {
        queues.withLock { queues in
            if let endpoint { queues[endpoint] = nil } else { queues = [:] }
        }
    }

    /// The fault for the next call; counts that call.
    func take(_ endpoint: AppleEndpoint) -> AppleFault? {
        queues.withLock { queues in
            guard let fault = queues[endpoint]?.first else { return nil }
            let times = fault.times ?? 1
            if times == 1 {
                queues[endpoint]?.removeFirst()
            } else if times > 1 {
                queues[endpoint]?[0].times = times - 1
            }
            return fault
        }
    }

    func waiting() -> [String: [AppleFault]] {
        queues.withLock { queues in Dictionary(uniqueKeysWithValues: queues.filter { !$0.value.isEmpty }.map { ($0.key.rawValue, $0.value) }) }
    }
}

/// One fault that tests can set for an endpoint.
struct AppleFault: Sendable, Codable, Equatable {
    enum Kind: String, Sendable, Codable {
        /// Answers `status` with `headers` and `body` instead.
        case answer
        /// Answers as it should, after `milliseconds`.
        case latency
        /// Never answers and does nothing.
        case timeout
        /// Does what it should, and never answers.
        case applyThenTimeout
        /// Resets the connection.
        case reset
        /// Does what it should, and breaks off in the middle of the answer.
        case truncated
        /// Answers 200 with `application/json` that is not JSON.
        case notJSON
        /// Answers as it should, but as `text/plain`.
        case contentType

        var hangs: Bool { self == .timeout || self == .applyThenTimeout }
    }

    static let longestDelay = 600_000

    let kind: Kind
    var status: Int?
    var headers: [String: String]?
    var body: String?
    var milliseconds: Int?
    /// How many calls it affects; 0: all; default 1.
    var times: Int?

    func check(_ key: String) throws(SettingsFault) {
        if kind == .answer, !(100...599).contains(status ?? 0) { throw SettingsFault(key: "\(key).status", problem: "is not from 100 to 599") }
        if kind == .latency, !(1...Self.longestDelay).contains(milliseconds ?? 0) {
            throw SettingsFault(key: "\(key).milliseconds", problem: "is not from 1 to \(Self.longestDelay)")
        }
        guard (0...1_000_000).contains(times ?? 1) else { throw SettingsFault(key: "\(key).times", problem: "is not from 0 to 1000000") }
    }
}

/// The endpoints that can be told to fail, by the names of the log.
enum AppleEndpoint: String, Sendable, Codable, CaseIterable {
    case keys, authorize, token, revoke, usermigrationinfo, update, delete
    /// A device's own framework: reading, changing and deleting the token, signing in.
    case device
}
