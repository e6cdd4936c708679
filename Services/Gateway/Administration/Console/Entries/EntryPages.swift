internal import CatalogueFiles
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// One entry of the catalogue: what it has, and what may be done with it.
struct EntryPages: Sendable {
    let console: Console
    let collection: ConsoleCollection

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await entry(exchange, visitor)
        return await page(entry, visitor, exchange)
    }

    /// Switches an integration on or off in the draft, and goes on to its review.
    @Sendable func toggle(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await entry(exchange, visitor)
        let wanted = try exchange.value("enabled") == "on"
        guard entry.isOn != wanted else { return Console.seeOther(ConsolePlace.draft.address) }
        var tree = entry.tree
        tree.set(["enabled"], to: .bool(wanted))
        let request = ReplaceEntityRequest(
            token: visitor.secret, kind: collection.kind, id: entry.id, json: tree.canonical, ifMatch: try exchange.value("etag") ?? "")
        switch try await console.administration.replaceEntity(request, context: exchange.changingCall).outcome {
        case .changed: return Console.seeOther(ConsolePlace.draft.address)
        case .refusal(let refusal): return await page(entry, visitor, exchange, refusal: refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    @Sendable func delete(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let entry = try await entry(exchange, visitor)
        let request = DeleteEntityRequest(
            token: visitor.secret, kind: collection.kind, id: entry.id, ifMatch: try exchange.value("etag") ?? "")
        switch try await console.administration.deleteEntity(request, context: exchange.changingCall).outcome {
        case .changed: return Console.seeOther(ConsolePlace.draft.address)
        case .refusal(let refusal): return await page(entry, visitor, exchange, refusal: refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    func entry(_ exchange: Exchange, _ visitor: Visitor) async throws -> ConsoleEntry {
        let id =
            collection == .integrations
            ? "\(try exchange.captured("requestor"))/\(try exchange.captured("mvpd"))" : try exchange.captured("id")
        let request = GetEntityRequest(token: visitor.secret, kind: collection.kind, id: id)
        return ConsoleEntry(collection, try await console.administration.getEntity(request, context: exchange.call))
    }

    private func page(_ entry: ConsoleEntry, _ visitor: Visitor, _ exchange: Exchange, refusal: Refusal? = nil) async -> Response {
        var content: [String: Any] = [
            "noun": collection.noun, "placeName": collection.place.name, "placeAddress": collection.place.address, "entryId": entry.id,
            "groups": FormContent.facts(EntryForm(entry.groups, of: entry.tree)), "json": PrettyJson.text(entry.tree),
            "isChanged": entry.entity.isChanged, "etag": entry.entity.etag, "related": related(entry, visitor),
            "wasSaved": (try? exchange.value("saved")) == "1",
        ]
        content["hasRelated"] = !related(entry, visitor).isEmpty
        if collection == .integrations { content["state"] = ["isOn": entry.isOn] }
        let upstream = await upstream(of: entry, visitor, exchange)
        if var tag = await UpstreamSummary(console: console).tag(upstream, exchange) {
            if visitor.isOperator, let upstream { tag["upstreamLink"] = ConsoleCollection.upstreams.address(of: upstream) }
            content["upstream"] = tag
        }
        if collection == .upstreams {
            // It has more properties than anybody sets.
            content["groups"] = FormContent.facts(EntryForm(entry.groups, of: entry.tree), withUnset: false)
            content.merge(await UpstreamSection(console: console).content(entry, exchange)) { own, _ in own }
        }
        let levels = collection.mayWrite(visitor, isReplacement: true) ? entry.id : nil
        if let effective = EffectiveTable(entry.entity.effectiveJson, editing: levels).content { content["effective"] = effective }
        if collection.mayWrite(visitor, isReplacement: true) {
            content["edit"] = [
                "editAddress": collection.address(of: entry.id, "edit"), "jsonAddress": collection.address(of: entry.id, "json"),
            ]
            if collection == .integrations {
                content["switch"] =
                    ["switchAddress": collection.address(of: entry.id, "switch"), "switchTo": entry.isOn ? "" : "on", "switchesOn": !entry.isOn]
                    as [String: Any]
            }
        }
        if collection.mayWrite(visitor, isReplacement: false) {
            content["delete"] = ["deleteAddress": collection.address(of: entry.id, "delete")]
        }
        if collection == .mvpds, visitor.mayEdit {
            content["integrateAddress"] = Console.address("new", "integrations", query: ["mvpd": entry.id])
        }
        if let refusal { content["refused"] = RefusalContent(refusal).content }
        return await console.page(
            "entry", entry.name, window: entry.fullName, in: collection.place, content, for: visitor, exchange,
            status: refusal.map { AdministrationError($0).status } ?? .ok)
    }

    /// The upstream that serves the entry; `nil`: none does, or nobody can say.
    private func upstream(of entry: ConsoleEntry, _ visitor: Visitor, _ exchange: Exchange) async -> String? {
        switch collection {
        case .channels: return entry.tree["upstream"]?["upstream"]?.text
        case .integrations:
            guard let requestor = entry.tree["requestor"]?.text, let way = entry.tree["upstream"], way != .bool(false) else { return nil }
            let request = GetEntityRequest(token: visitor.secret, kind: .requestor, id: requestor)
            guard let channel = try? await console.administration.getEntity(request, context: exchange.call) else { return nil }
            return JsonTree.reading(channel.json)["upstream"]?["upstream"]?.text
        case .mvpds, .applications, .programmers, .upstreams: return nil
        }
    }

    /// Returns where one goes from here.
    private func related(_ entry: ConsoleEntry, _ visitor: Visitor) -> [[String: String]] {
        let lists = ConsoleCollection.integrations.rawValue
        switch collection {
        case .channels:
            return [
                link("Its integrations", Console.address(lists, query: ["requestor": entry.id])),
                link("Its applications", Console.address("applications", query: ["requestor": entry.id])),
            ]
        case .mvpds:
            return [
                link("Its integrations", Console.address(lists, query: ["mvpd": entry.id])),
                link("Its sign-ins", Console.address("sign-ins", query: ["mvpd": entry.id])),
            ] + tests(entry.id, "", visitor) + [
                link("Watch a sign-in by what is live", SignInWatch.address(entry.id)),
                link("Degradation while it has trouble", Console.address("degradation", "new", query: ["mvpd": entry.id])),
            ]
        case .integrations:
            let parts = entry.id.split(separator: "/", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return [] }
            return [
                link("Channel \(parts[0])", ConsoleCollection.channels.address(of: parts[0])),
                link("MVPD \(parts[1])", ConsoleCollection.mvpds.address(of: parts[1])),
                link("Sign-ins of the MVPD", Console.address("sign-ins", query: ["mvpd": parts[1]])),
            ] + tests(parts[1], parts[0], visitor) + [link("Watch a sign-in by what is live", SignInWatch.address(parts[1]))]
        case .applications, .programmers, .upstreams: return []
        }
    }

    private func tests(_ mvpd: String, _ requestor: String, _ visitor: Visitor) -> [[String: String]] {
        visitor.mayEdit ? [link("Test a sign-in before it is pushed", TestSignInPages.address(mvpd: mvpd, requestor: requestor))] : []
    }

    private func link(_ text: String, _ address: String) -> [String: String] { ["relatedText": text, "relatedAddress": address] }
}
