public import Hummingbird
internal import NIOCore

/// What a handler knows about a request besides the request.
public struct SandboxContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The connection: the control routes check its peer, a disturbance may reset it.
    let channel: any Channel
    /// Whether callers of private networks count as this machine.
    var trustsPrivateNetworks = false

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The caller's address; empty when it has none.
    var address: String { channel.remoteAddress?.ipAddress ?? "" }

    /// Whether the caller may control the stand-ins.
    var isTrusted: Bool { isLoopback || (trustsPrivateNetworks && isPrivate) }

    /// Whether the caller's address is of a private network (RFC 1918, RFC 4193).
    private var isPrivate: Bool {
        switch channel.remoteAddress {
        case .v4(let address):
            let number = UInt32(bigEndian: address.address.sin_addr.s_addr)
            return number >> 24 == 10 || number >> 20 == 0xAC1 || number >> 16 == 0xC0A8
        case .v6(let address): return withUnsafeBytes(of: address.address.sin6_addr) { $0[0] & 0xFE == 0xFC }
        case .unixDomainSocket, nil: return false
        }
    }

    /// Whether the caller is on this machine.
    var isLoopback: Bool {
        switch channel.remoteAddress {
        case .v4(let address): address.address.sin_addr.s_addr.bigEndian >> 24 == 127
        case .v6: channel.remoteAddress?.ipAddress == "::1"
        case .unixDomainSocket: true
        case nil: false
        }
    }
}
