internal import Contracts
internal import Faults
internal import Hummingbird
internal import NIOCore

/// Where Apple's servers tell of an account (apple §2.9).
struct NotificationEndpoint: Sendable {
    let signInWithApple: any SignInWithApple
    let throttle: NotificationThrottle

    /// 200 once the effect is durable: Apple repeats on anything else.
    @Sendable func receive(_ exchange: Exchange) async throws -> Response {
        do { return try await take(exchange) } catch let fault as Fault where fault.code == .appleNotificationInvalid {
            guard let seconds = throttle.charge(exchange.facts.clientAddress) else { throw fault }
            return Refusals.tooManyRequests(retryAfter: seconds)
        }
    }

    private func take(_ exchange: Exchange) async throws -> Response {
        let payload: String
        // Whatever the content type: only the signature counts.
        do { payload = try AppBody(Array(exchange.body.readableBytesView)).text("payload") } catch {
            throw Fault(.appleNotificationInvalid, error.message)
        }
        _ = try await signInWithApple.receiveNotification(AppleNotification(payload: payload), context: exchange.changingCall)
        return .empty(.ok)
    }
}
