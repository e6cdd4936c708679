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
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        peer = channel.remoteAddress?.ipAddress
    }

    /// Tells a client that its body is wanted, where it said that it waits for that and has sent nothing of it: the head is accepted (RFC 9110 §10.1.1).
    func sayContinue(to request: Request) {
        guard request.headers.value(.expect) != nil else { return }
        let pipeline = channel.pipeline
        let say = { @Sendable in (try? pipeline.syncOperations.handler(type: RequestGuard.self))?.sayContinue() ?? () }
        if channel.eventLoop.inEventLoop { say() } else { channel.eventLoop.execute(say) }
    }
}
