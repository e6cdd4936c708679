internal import AuthenticationCore
internal import BridgeClient
internal import Contracts
internal import Cryptography
internal import Identifiers
internal import Memos

/// A client of ours at an upstream, and what serves it.
struct UpstreamClientAt: Sendable {
    private static let standardShards: UInt32 = 64
    private static let standardScope = "api:client:v2"
    private static let service = "service"
    private static let check = "check-"

    let name: UpstreamSlotName
    let upstream: BridgeUpstream
    let entry: BridgeClientEntry

    /// True when it serves no device.
    let isService: Bool
    /// True for that of an operator's check.
    private let isCheck: Bool

    var scope: String { entry.scope.isEmpty ? Self.standardScope : entry.scope }

    /// The one that serves a device.
    init(_ upstream: BridgeUpstream, _ entry: BridgeClientEntry, of device: DeviceID) {
        let digest = SHA256.hash(device.text)
        switch upstream.clientScope {
        case .device, .unrecognized: self.init(upstream, entry, Hex.encode(digest), isDevices: true)
        case .shared:
            let number = digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let shard = number % (upstream.shards == 0 ? Self.standardShards : upstream.shards)
            self.init(upstream, entry, "\(shard)", isDevices: false)
        }
    }

    /// The one that serves no device.
    init(service upstream: BridgeUpstream, _ entry: BridgeClientEntry) { self.init(upstream, entry, Self.service, isDevices: false) }

    /// The one of an operator's check: another statement makes another client, so that a check tries the statement of now and leaves one client.
    init(check upstream: BridgeUpstream, _ entry: BridgeClientEntry, statement: String) {
        self.init(upstream, entry, Self.check + Hex.encode(Array(SHA256.hash(statement).prefix(8))), isDevices: false)
    }

    /// The one that a session came by, as long as the upstream's record has it.
    init?(_ slot: String, at upstream: BridgeUpstream) {
        let parts = slot.split(separator: "/", maxSplits: 2).map(String.init)
        guard parts.count == 3, parts[0] == upstream.id, let entry = upstream.client(parts[1]) else { return nil }
        self.init(upstream, entry, parts[2], isDevices: parts[2].utf8.count == 64)
    }

    /// The upstream's entry: its clients share a statement.
    var place: OctetText { OctetText("\(upstream.id)/\(entry.id)") }

    /// Clients that are refused together. A check's own does not keep viewers' from being registered, and they not it.
    var refusalPlace: OctetText { isCheck ? OctetText(name.text) : place }

    private init(_ upstream: BridgeUpstream, _ entry: BridgeClientEntry, _ rest: String, isDevices: Bool) {
        (self.upstream, self.entry, isService) = (upstream, entry, rest == Self.service)
        isCheck = rest.hasPrefix(Self.check)
        name = UpstreamSlotName(text: "\(upstream.id)/\(entry.id)/\(rest)", upstream: upstream.id, entry: entry.id, isDevices: isDevices)
    }
}
