internal import Hummingbird
internal import NIOCore

/// What the router carries beside a request.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Address of the connection's other end; `nil` without a network.
    let peer: String?
    /// The whole body, where it came with the head; `nil`: it is read from the request.
    var body: ByteBuffer?
    /// Set by `Edge` before a route sees the request.
    var facts = RequestFacts.none

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = source.channel.remoteAddress?.ipAddress
    }
}
