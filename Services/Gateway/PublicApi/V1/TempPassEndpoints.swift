internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Free preview (rest-v1 §3.21).
struct TempPassEndpoints: Sendable {
    let dependencies: Dependencies
    let reader: DeviceCallReader

    private static let rules = DeviceCallReader.Rules(requestorParameter: "requestor_id")

    @Sendable func preview(_ exchange: Exchange) async throws -> Response {
        let (call, request) = try await reader.read(exchange, Self.rules) { exchange throws(Fault) in
            StartFreePreviewRequest(
                mvpd: try exchange.required("mso_id"), domainName: try exchange.required("domain_name"),
                genericData: try exchange.value("generic_data") ?? "")
        }
        var complete = request
        complete.call = call
        _ = try await dependencies.authentication.startFreePreview(complete, context: exchange.changingCall)
        return .empty(.noContent)
    }
}
