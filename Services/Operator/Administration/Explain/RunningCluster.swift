internal import CommandKit
internal import Contracts
internal import Foundation
internal import TextEncodings

/// The administration API of the local cluster, as far as it explains sign-ins.
struct RunningCluster {
    let exchange: HTTPExchange
    let cluster: ClusterFile

    /// - Parameter advice: For whoever has no cluster, beside starting one.
    static func ask<Answer>(advice: String = "set BOXOFFICE_HOME", _ question: (RunningCluster) async throws -> Answer) async throws -> Answer {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home, advice: advice)
        return try await HTTPExchange.once(trusting: cluster.authority) { try await question(RunningCluster(exchange: $0, cluster: cluster)) }
    }

    func report(trace: String) async throws -> ExplainedSignIn {
        try read(try await exchange.send("GET", "\(cluster.administration)/admin/v1/sign-ins/\(trace)", headers: [bearer]))
    }

    /// The sign-ins that failed, the latest first.
    /// - Parameter mvpd: Only at this one; `nil`: at all.
    func failures(at mvpd: String?) async throws -> HTTPAnswer {
        let query = FormEncoding.encode([("failed", "true")] + (mvpd.map { [("mvpd", $0)] } ?? []))
        let answer = try await exchange.send("GET", "\(cluster.administration)/admin/v1/sign-ins?\(query)", headers: [bearer])
        guard answer.status == 200 else { throw refusal(answer) }
        return answer
    }

    func explanation(of request: ExplainResponseRequest) async throws -> ExplainedSignIn {
        var body: [String: Any] = ["samlResponse": request.samlResponse, "mvpd": request.mvpd]
        if !request.requestor.isEmpty { body["requestor"] = request.requestor }
        if !request.requestID.isEmpty { body["requestId"] = request.requestID }
        if request.atMilliseconds != 0 { body["at"] = Int64(clamping: request.atMilliseconds) }
        let content = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        let url = "\(cluster.administration)/admin/v1/saml/explanation"
        return try read(try await exchange.send("POST", url, headers: [bearer, ("Content-Type", "application/json")], body: content))
    }

    private var bearer: (String, String) { ("Authorization", "Bearer \(cluster.adminToken)") }

    private func read(_ answer: HTTPAnswer) throws -> ExplainedSignIn {
        guard answer.status == 200 else { throw refusal(answer) }
        return try JSONDecoder().decode(ExplainedSignIn.self, from: Data(answer.body))
    }

    private func refusal(_ answer: HTTPAnswer) -> CommandFailure {
        let message = (answer.object["error"] as? [String: Any])?["message"] as? String
        return CommandFailure(message ?? "the cluster answered \(answer.status)", advice: answer.status == 404 ? Self.forgotten : nil)
    }

    private static let forgotten =
        "the latest sign-ins are remembered, and none from before a restart; 'boxoffice explain' lists those that failed"
}
