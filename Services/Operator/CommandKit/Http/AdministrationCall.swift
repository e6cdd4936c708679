internal import Foundation

/// One call of the administration API of the local cluster.
package enum AdministrationCall {
    /// - Parameters:
    ///   - path: Below `/admin/v1`.
    ///   - body: JSON.
    ///   - ifMatch: The entity tag of what is changed.
    /// - Throws: `CommandFailure` with what the cluster says.
    package static func send(_ method: String, _ path: String, body: String? = nil, ifMatch: String? = nil) async throws -> HTTPAnswer {
        try success(of: await attempt(method, path, body: body, ifMatch: ifMatch))
    }

    /// As `send`, and leaves a refusal to the caller.
    /// - Throws: `CommandFailure` when the cluster cannot be reached.
    package static func attempt(_ method: String, _ path: String, body: String? = nil, ifMatch: String? = nil) async throws -> HTTPAnswer {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home)
        var headers = [("Authorization", "Bearer \(cluster.adminToken)")]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        if let ifMatch { headers.append(("If-Match", ifMatch)) }
        return try await HTTPExchange.once(trusting: cluster.authority) { [headers] exchange in
            try await exchange.send(method, "\(cluster.administration)/admin/v1\(path)", headers: headers, body: body)
        }
    }

    /// - Throws: `CommandFailure` with what the cluster says.
    package static func success(of answer: HTTPAnswer) throws -> HTTPAnswer {
        guard (200..<300).contains(answer.status) else {
            let error = answer.object["error"] as? [String: Any]
            let problems = (error?["problems"] as? [[String: Any]] ?? []).compactMap { problem in
                (problem["message"] as? String).map { message in
                    [problem["field"] as? String, message].compactMap { $0?.withoutEnd }.filter { !$0.isEmpty }.joined(separator: ": ")
                }
            }
            // Whom an id stands for that was to name one person.
            let people = (error?["people"] as? [[String: Any]] ?? []).map { person in
                "--user \(person["user"] as? String ?? "(told by an upstream alone)") --mvpd \(person["mvpd"] as? String ?? "")"
            }
            throw CommandFailure(
                error?["message"] as? String ?? "the cluster answered \(answer.status)",
                advice: problems.isEmpty && people.isEmpty ? nil : (problems + people).joined(separator: "; "))
        }
        return answer
    }

    /// Pushes the draft as it is now.
    /// - Returns: The version that it has become; `nil`: it waits for a second person.
    package static func push(_ description: String) async throws -> Int? {
        let draft = try await send("GET", "/draft")
        return try await send("POST", "/draft/push", body: try json(["description": description]), ifMatch: draft.header("etag")).object["version"]
            as? Int
    }

    package static func json(_ object: Any) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes]), as: UTF8.self)
    }
}
