internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The reset of free previews (rest-v1 §3.22).
struct TempPassReset: Sendable {
    let authentication: any Authentication

    @Sendable func resetDevices(_ exchange: Exchange) async throws -> Response {
        try await reset(exchange) { exchange throws(Fault) in .deviceID(try exchange.value("device_id") ?? "") }
    }

    @Sendable func resetUsers(_ exchange: Exchange) async throws -> Response {
        try await reset(exchange) { exchange throws(Fault) in .key(try exchange.value("key") ?? "") }
    }

    private func reset(
        _ exchange: Exchange, scope: (Exchange) throws(Fault) -> ResetTempPassRequest.Scope
    ) async throws -> Response {
        let token = try Bearer.required(exchange)
        let request: ResetTempPassRequest
        do {
            request = ResetTempPassRequest(
                accessToken: token, requestor: try requestor(exchange), mvpd: try exchange.required("mvpd_id"), scope: try scope(exchange))
        } catch {
            try await refuseBadBearer(token, exchange)
            throw error
        }
        _ = try await authentication.resetTempPass(request, context: exchange.changingCall)
        return .empty(.noContent)
    }

    private func requestor(_ exchange: Exchange) throws(Fault) -> String {
        do {
            let id = try exchange.required("requestor_id")
            exchange.serves([id])
            return id
        } catch { throw Fault(.invalidRequestor, error.message) }
    }

    /// The bearer comes before any other check (rest-v1 §2.8), and only the owner of trials knows the scope that it needs. A reset of nothing is
    /// refused for the bearer first.
    private func refuseBadBearer(_ token: String, _ exchange: Exchange) async throws {
        do {
            _ = try await authentication.resetTempPass(ResetTempPassRequest(accessToken: token), context: exchange.call)
        } catch  where (error as? Fault)?.code != .invalidRequestor {
            throw error
        } catch {}
    }
}
