internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// The versions that were pushed, and pushes that wait for a second person (dashboard §4).
struct HistoryPages: Sendable {
    private static let size: UInt32 = 25

    let console: Console

    @Sendable func list(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        try await list(exchange, visitor, nil)
    }

    /// A version and what it changed of the one before it.
    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let number = try exchange.number("version")
        let request = GetVersionRequest(token: visitor.secret, version: number)
        guard let version = try await console.administration.getVersion(request, context: exchange.call).version else {
            throw Fault(.notFound, "There is no such version.")
        }
        return try await show(version, exchange, visitor, nil)
    }

    /// Exactly two versions, the older one first (dashboard #27).
    @Sendable func compare(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let chosen = try exchange.all("version").compactMap { UInt64($0) }
        guard chosen.count == 2, chosen[0] != chosen[1] else {
            return try await list(exchange, visitor, ["mustChooseTwo": true], status: .badRequest)
        }
        let (old, new) = (min(chosen[0], chosen[1]), max(chosen[0], chosen[1]))
        let request = CompareVersionsRequest(token: visitor.secret, oldVersion: old, newVersion: new)
        let comparison = try await console.administration.compareVersions(request, context: exchange.call)
        var content: [String: Any] = ["comparison": ["oldVersion": "\(old)", "newVersion": "\(new)"]]
        content.merge(Self.changes(comparison.changes)) { own, _ in own }
        return await console.page("version", "Versions \(old) and \(new)", in: .history, content, for: visitor, exchange)
    }

    /// Makes a draft of a former version (dashboard #28).
    @Sendable func restore(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let number = try exchange.number("version")
        let request = RestoreVersionRequest(token: visitor.secret, version: number)
        switch try await console.administration.restoreVersion(request, context: exchange.changingCall).outcome {
        case .draft: return Console.seeOther(ConsolePlace.draft.address)
        case .refusal(let refusal):
            let found = try await console.administration.getVersion(GetVersionRequest(token: visitor.secret, version: number), context: exchange.call)
            return try await show(found.version ?? CatalogueVersion(version: number), exchange, visitor, refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    /// The second person's word on a push (dashboard #30).
    @Sendable func decide(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let approves = try exchange.required("decision") == "approve"
        let secrets = approves ? await SecretInventory.asked(of: console.dependencies.operations, for: exchange) : nil
        let request = DecidePushRequest(token: visitor.secret, id: try exchange.required("id"), approve: approves, secrets: secrets)
        switch try await console.administration.decidePush(request, context: exchange.changingCall).outcome {
        case .version(let version): return Console.seeOther(Console.address("history", "\(version.version)", query: ["pushed": "1"]))
        case .pending, .declined: return Console.seeOther(Console.address("history", query: ["declined": "1"]))
        case .refusal(let refusal):
            return try await list(
                exchange, visitor, ["refused": RefusalContent(refusal).content], status: AdministrationError(refusal).status)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    private func list(
        _ exchange: Exchange, _ visitor: Visitor, _ more: [String: Any]?, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let request = ListVersionsRequest(token: visitor.secret, page: PageRequest(page: try exchange.page().page, size: Self.size))
        let list = try await console.administration.listVersions(request, context: exchange.call)
        var content: [String: Any] = [
            "versions": list.versions.map(VersionRow.content), "compareAddress": Console.address("history", "compare"),
            "auditAddress": Console.address("audit"), "waits": (try? exchange.value("waits")) == "1",
            "wasDeclined": (try? exchange.value("declined")) == "1",
        ]
        content.merge(
            PagerContent(total: list.total, page: list.page, size: list.size) { Console.address("history", query: ["page": "\($0)"]) }.content
        ) { own, _ in own }
        if visitor.mayEdit { content["pending"] = try await pending(exchange, visitor) }
        return await console.page(
            "history", "History", in: .history, content.merging(more ?? [:]) { _, new in new }, for: visitor, exchange, status: status)
    }

    private func pending(_ exchange: Exchange, _ visitor: Visitor) async throws -> [[String: Any]] {
        let pushes = try await console.administration.listPendingPushes(ListPendingPushesRequest(token: visitor.secret), context: exchange.call)
        return pushes.pushes.map { push in
            [
                "pushId": push.id, "pushAuthor": push.author, "pushDescription": push.description,
                "pushedAt": DisplayedTime(milliseconds: push.createdAtMilliseconds).text, "changes": ChangeRows(push.changes).rows, "mayDrop": false,
                "isOwnPush": push.author == visitor.administrator.name,
            ]
        }
    }

    private func show(
        _ version: CatalogueVersion, _ exchange: Exchange, _ visitor: Visitor, _ refusal: Refusal?
    ) async throws -> Response {
        var content: [String: Any] = ["version": VersionRow.content(version), "wasPushed": (try? exchange.value("pushed")) == "1"]
        if let before = try await before(version.version, exchange, visitor) {
            let request = CompareVersionsRequest(token: visitor.secret, oldVersion: before, newVersion: version.version)
            let comparison = try await console.administration.compareVersions(request, context: exchange.call)
            content.merge(Self.changes(comparison.changes)) { own, _ in own }
            content["before"] = "\(before)"
        }
        if visitor.mayEdit, !version.isCurrent {
            content["restore"] = ["restoreAddress": Console.address("history", "\(version.version)", "restore")]
        }
        if let refusal { content["refused"] = RefusalContent(refusal).content }
        return await console.page(
            "version", "Version \(version.version)", in: .history, content, for: visitor, exchange,
            status: refusal.map { AdministrationError($0).status } ?? .ok)
    }

    /// - Returns: The newest version that is older; versions have no gaps that say which one that is.
    private func before(_ number: UInt64, _ exchange: Exchange, _ visitor: Visitor) async throws -> UInt64? {
        var page: UInt32 = 1
        while page <= 50 {
            let request = ListVersionsRequest(token: visitor.secret, page: PageRequest(page: page, size: 200))
            let list = try await console.administration.listVersions(request, context: exchange.call)
            if let older = list.versions.first(where: { $0.version < number }) { return older.version }
            guard UInt64(list.page) * UInt64(list.size) < UInt64(list.total), !list.versions.isEmpty else { return nil }
            page += 1
        }
        return nil
    }

    private static func changes(_ changes: [CatalogueChange]) -> [String: Any] {
        var content: [String: Any] = ["hasChanges": ["changes": ChangeRows(changes).rows, "mayDrop": false], "isSame": changes.isEmpty]
        if changes.isEmpty { content["hasChanges"] = nil }
        if let omitted = ChangeRows.omitted(changes) { content["omitted"] = omitted }
        return content
    }
}

/// A version in lists.
enum VersionRow {
    static func content(_ version: CatalogueVersion) -> [String: Any] {
        [
            "versionNumber": "\(version.version)", "versionAddress": Console.address("history", "\(version.version)"),
            "versionText": version.description.isEmpty ? "–" : version.description, "versionAuthor": version.author,
            "versionApprover": version.approver, "hasApprover": !version.approver.isEmpty,
            "versionDate": DisplayedTime(milliseconds: version.createdAtMilliseconds).text, "isCurrent": version.isCurrent,
            "versionStatus": status(version), "isFromFile": version.origin == .file,
        ]
    }

    private static func status(_ version: CatalogueVersion) -> String {
        switch version.status {
        case .success: version.isCurrent ? "live" : "was live"
        case .failed: "failed"
        case .pending, .unrecognized: "on its way"
        }
    }
}

/// Takes over what another cluster's catalogue has otherwise, from a file that its console exported: neither cluster knows the other's people
/// (dashboard §1).
struct PromotePages: Sendable {
    static let path = Console.address("promote")

    let console: Console

    private struct Typed {
        var catalogue = ""
        var keepsEndpoints = true
        var keepsOthers = true
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        await page(Typed(), nil, visitor, exchange)
    }

    @Sendable func promote(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let typed = Typed(
            catalogue: (try exchange.value("catalogue") ?? "").trimmed, keepsEndpoints: try exchange.value("endpoints") == "keep",
            keepsOthers: try exchange.value("others") == "keep")
        let request = PromoteCatalogueRequest(
            token: visitor.secret, catalogue: typed.catalogue, keepEndpoints: typed.keepsEndpoints, keepOthers: typed.keepsOthers)
        switch try await console.administration.promoteCatalogue(request, context: exchange.changingCall).outcome {
        case .draft(let draft) where draft.changes.isEmpty: return await page(typed, nil, visitor, exchange, isSame: true)
        case .draft: return Console.seeOther(ConsolePlace.draft.address)
        case .refusal(let refusal): return await page(typed, refusal, visitor, exchange, status: AdministrationError(refusal).status)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    /// A version as a file for another cluster.
    @Sendable func export(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let number = try exchange.number("version")
        let snapshot = try await console.administration.getVersion(
            GetVersionRequest(token: visitor.secret, version: number), context: exchange.call)
        var response = Response(json: Array(snapshot.documentJson.utf8), status: .ok)
        response.headers[.contentDisposition] = "attachment; filename=\"catalogue-\(number).json\""
        return response
    }

    private func page(
        _ typed: Typed, _ refusal: Refusal?, _ visitor: Visitor, _ exchange: Exchange, isSame: Bool = false, status: HTTPResponse.Status = .ok
    ) async -> Response {
        var content: [String: Any] = [
            "catalogue": typed.catalogue, "keepsEndpoints": typed.keepsEndpoints, "keepsOthers": typed.keepsOthers, "isSame": isSame,
            "mayPromote": visitor.mayEdit,
        ]
        if let refusal { content["refused"] = RefusalContent(refusal).content }
        return await console.page("promote", "Take over from another cluster", in: .history, content, for: visitor, exchange, status: status)
    }
}
