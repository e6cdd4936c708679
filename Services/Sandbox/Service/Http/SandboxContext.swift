public import Hummingbird
internal import NIOCore

/// What a handler knows about a request besides the request.
public struct SandboxContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    /// The connection: the control routes ask who is at its end, a disturbance may reset it.
    let channel: any Channel

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The caller's address; empty when it has none.
    var address: String { channel.remoteAddress?.ipAddress ?? "" }

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
