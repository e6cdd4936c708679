import Foundation
import NIOHTTP1

/// Changes of the catalogue (dashboard §4, §5).
struct Administration: Sendable {
    let caller: Caller
    /// Base URL of the listener for administration.
    let address: String
    let token: String

    /// Renames `ACME2` and pushes that.
    /// - Returns: The version when the push was acknowledged; the outcome of the last request otherwise.
    func push(name: String) async -> Result<Int, Interruption> {
        guard await send(.draft, .DELETE, "draft", expecting: [204]).isDone else { return .failure(.before) }
        guard let answer = await send(.draft, .GET, "requestors/ACME2", expecting: [200]).answer,
            var entity = answer.object["entity"] as? [String: Any]
        else { return .failure(.before) }
        entity["name"] = name
        guard let body = try? JSONSerialization.data(withJSONObject: entity) else { return .failure(.before) }
        let text = String(decoding: body, as: UTF8.self)
        guard await send(.draft, .PUT, "requestors/ACME2", expecting: [200, 201], body: text, more: [("If-Match", "*")]).isDone else {
            return .failure(.before)
        }
        let pushed = await send(.push, .POST, "draft/push", expecting: [202], body: Television.object(["description": name])) {
            $0.object["version"] is Int ? nil : "no version in the answer to a push"
        }
        guard let version = pushed.answer?.object["version"] as? Int else { return .failure(.during) }
        return .success(version)
    }

    /// The descriptions of the newest versions, by number.
    func versions() async -> [Int: String]? {
        var found: [Int: String] = [:]
        for page in 1...20 {
            let answer = await send(.versions, .GET, "versions?size=200&page=\(page)", expecting: [200]).answer
            guard let answer, let items = answer.object["versions"] as? [[String: Any]] else { return nil }
            for item in items {
                if let version = item["version"] as? Int { found[version] = item["description"] as? String ?? "" }
            }
            if items.count < 200 { break }
        }
        return found
    }

    func newestVersion() async -> Outcome { await send(.versions, .GET, "versions?size=1", expecting: [200]) }

    enum Interruption: Error { case before, during }

    private func send(
        _ operation: Operation, _ method: HTTPMethod, _ path: String, expecting: Set<Int>, body: String? = nil, more: [(String, String)] = [],
        check: (Answer) -> String? = { _ in nil }
    ) async -> Outcome {
        var headers = [("Authorization", "Bearer \(token)")] + more
        if body != nil { headers.append(("Content-Type", "application/json")) }
        return await caller.send(
            operation, method, "\(address)/admin/v1/\(path)", expecting: expecting, headers: headers, body: body, check: check)
    }
}
