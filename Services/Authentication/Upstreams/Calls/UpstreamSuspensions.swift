internal import BridgeClient
internal import Clocks
internal import Synchronization

/// Integrations that an upstream has closed. For two minutes their sessions are hidden, nothing begins there, and upstream is not asked about them
/// (bridge §12.1). Each copy knows what it has heard itself, as of breakers: the other learns it by its own next call.
final class UpstreamSuspensions: Sendable {
    static let span: Duration = .seconds(120)
    /// More are not remembered: each is asked about again.
    private static let most = 4096

    /// An integration of one upstream.
    struct Place: Hashable {
        let upstream: OctetText
        let integration: BridgeCall.Integration

        init(_ upstream: String, _ integration: BridgeCall.Integration) { (self.upstream, self.integration) = (OctetText(upstream), integration) }
    }

    private let starts = Mutex<[Place: Timestamp]>([:])

    /// Upstream has said that it does not serve the integration.
    /// - Returns: True when nobody knew.
    func suspend(_ place: Place, now: Timestamp) -> Bool {
        starts.withLock { starts in
            starts = starts.filter { Self.holds($0.value, now) }
            guard starts[place] == nil, starts.count < Self.most else { return false }
            starts[place] = now
            return true
        }
    }

    func holds(_ place: Place, now: Timestamp) -> Bool { starts.withLock { starts in starts[place].map { Self.holds($0, now) } ?? false } }

    /// Nobody has to be asked where there are none.
    var isEmpty: Bool { starts.withLock { $0.isEmpty } }

    /// A clock that is set back ends it.
    private static func holds(_ start: Timestamp, _ now: Timestamp) -> Bool { now >= start && now < start + span }
}

extension BridgeCall.Integration {
    /// Where the call of an app gets the same answer as if upstream had given it once more.
    var refusal: UpstreamError { .failure(.refused(BridgeRefusal(status: 400, code: "invalid_integration", action: "configuration"))) }
}
