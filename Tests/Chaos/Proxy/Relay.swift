import NIOCore

/// One way of a connection through a proxy: what this end sends goes to the partner, by the rules of the moment.
///
/// `@unchecked Sendable`: used on the event loop of both ends only, which is the same.
final class Relay: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    /// Bytes on their way through the proxy over which it reads no more.
    private static let backlog = 256 * 1024

    private let link: Link
    private let proxy: ProxyState
    private var partner: (any Channel)?
    /// The other way of the same connection, until both ends stand.
    var twin: Relay?
    private var context: ChannelHandlerContext?
    private var early: [ByteBuffer] = []
    private var times = DepartureTimes()
    private var corruption = Corruption()
    private var waiting = 0
    private var hasEnded = false
    private var isGone = false

    /// Called once, when the connection of this end stands.
    private var whenActive: ((any Channel) -> Void)?

    init(link: Link, proxy: ProxyState, whenActive: ((any Channel) -> Void)? = nil) {
        self.link = link
        self.proxy = proxy
        self.whenActive = whenActive
    }

    /// The other end is there; what came before goes to it.
    func join(_ partner: any Channel) {
        self.partner = partner
        guard !isGone else { return partner.close(promise: nil) }
        let held = early
        early = []
        for bytes in held { pass(bytes) }
        if hasEnded { end() }
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        whenActive?(context.channel)
        whenActive = nil
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { pass(unwrapInboundIn(data)) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        end()
    }

    func channelInactive(context: ChannelHandlerContext) {
        (hasEnded, isGone) = (true, true)
        if !proxy.rules.isMute, !link.isMute { later(0) { $0.close(promise: nil) } }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func pass(_ bytes: ByteBuffer) {
        guard partner != nil else { return early.append(bytes) }
        let rules = proxy.rules
        guard !rules.isMute, !link.isMute else { return }
        var bytes = bytes
        proxy.count(bytes: bytes.readableBytes, corrupted: corruption.apply(to: &bytes, oneIn: rules.corruptsOneIn))
        waiting += bytes.readableBytes
        setReading()
        let count = bytes.readableBytes
        later(count, rules) { [bytes] partner in
            partner.writeAndFlush(bytes).assumeIsolated().whenComplete { _ in
                self.waiting -= count
                self.setReading()
            }
        }
    }

    /// This end says no more: the other one hears so, after all that is on its way. Not on a mute connection: there nobody hears anything.
    private func end() {
        hasEnded = true
        guard !proxy.rules.isMute, !link.isMute else { return }
        later(0) { $0.close(mode: .output, promise: nil) }
    }

    private func later(_ count: Int, _ rules: WireRules? = nil, _ work: @escaping (any Channel) -> Void) {
        guard let partner else { return }
        let now = NIODeadline.now()
        if let time = times.departure(of: count, rules: rules ?? proxy.rules, random: .random(in: 0...1), now: now) {
            partner.eventLoop.assumeIsolated().scheduleTask(deadline: time) { work(partner) }
        } else {
            work(partner)
        }
    }

    private func setReading() {
        try? context?.channel.syncOptions?.setOption(.autoRead, value: waiting <= Self.backlog)
    }
}
