internal import SandboxKit
internal import Clocks
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Writes the time of a stand-in's own clock into its answers, in place of the machine's: callers see how wrong that clock is.
final class DateHeader: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let clock: AdjustableClock

    init(clock: AdjustableClock) { self.clock = clock }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        head.headerFields[.date] = Self.text(clock.now())
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    static func text(_ moment: Timestamp) -> String {
        let text = Instant.text(moment)
        let month = Int(text.dropFirst(5).prefix(2)).map { months[$0 - 1] } ?? ""
        let day = days[Int(((moment.seconds / 86_400) % 7 + 7) % 7)]
        return "\(day), \(text.dropFirst(8).prefix(2)) \(month) \(text.prefix(4)) \(text.dropFirst(11).prefix(8)) GMT"
    }
}
