internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import CoreMetrics
internal import Faults
internal import Logging
internal import SamlProfile

/// The lists that MVPD proxies keep by themselves (dashboard §4, #31).
extension AdministrationService {
    public func listProxiedMvpds(_ request: ListProxiedMvpdsRequest, context: CallContext) async throws -> ProxiedMvpds {
        _ = try await proxyRights(request.token, request.proxyMvpdID)
        return try await publisher.read { ledger in
            ProxiedMvpds(mvpds: try ledger.proxiedMvpds(behind: request.proxyMvpdID).map(ProxiedEntry.contract))
        }
    }

    public func replaceProxiedMvpds(_ request: ReplaceProxiedMvpdsRequest, context: CallContext) async throws -> ProxiedMvpdsOutcome {
        let rights = try await proxyRights(request.token, request.proxyMvpdID)
        let proxy = request.proxyMvpdID
        do {
            let mvpds = try ProxiedEntry.entries(of: request.document, behind: proxy)
            let replace: @Sendable (CatalogueLedger) throws -> ListReplacement = { ledger in
                try ledger.replaceProxiedMvpds(behind: proxy, with: mvpds, by: rights.name)
            }
            await publisher.rehearse(replace)
            let replacement = try await publisher.change(replace)
            tell(replacement, behind: proxy, by: rights.name)
            let version = replacement.version
            return ProxiedMvpdsOutcome(outcome: .version(version.contract(current: version.version, published: version.version)))
        } catch {
            return ProxiedMvpdsOutcome(outcome: .refusal(try error.refusalOrThrow()))
        }
    }

    /// - Throws: `access_denied`, or `insufficient_role`.
    private func proxyRights(_ token: String, _ proxy: String) async throws(Fault) -> Rights {
        let rights = try await rights(token, .listProxied)
        guard rights.mayList(behind: proxy) else { throw .insufficientRole }
        return rights
    }

    private func tell(_ replacement: ListReplacement, behind proxy: String, by author: String) {
        guard replacement.isNew else { return }
        let facts: Logger.Metadata = [
            "proxy": "\(proxy)", "version": "\(replacement.version.version)", "administrator": "\(author)", "removed": "\(replacement.removed)",
            "former": "\(replacement.former)",
        ]
        logger.info("catalogue.proxied_mvpds_replaced", metadata: facts)
        guard replacement.isAlarming else { return }
        Counter(label: "boxoffice_config_proxied_mvpds_dropped_total", dimensions: [("proxy", proxy)]).increment()
        logger.warning("catalogue.proxied_mvpds_dropped", metadata: facts)
    }
}

/// An MVPD of a proxy's list, as the catalogue has it and as contracts do.
enum ProxiedEntry {
    /// - Throws: A `Refused` as its cause, with the first problem.
    static func entries(of text: String, behind proxy: String) throws(Fault) -> [(key: EntityKey, tree: JsonTree)] {
        let list: ProxiedMvpdList
        do throws(ProxiedMvpdList.Problem) {
            list = try ProxiedMvpdList(document: text)
        } catch {
            throw Refused.invalid(error.place, error.message).fault
        }
        var seen: Set<OctetText> = []
        var entries: [(key: EntityKey, tree: JsonTree)] = []
        for (index, record) in list.records.enumerated() {
            guard seen.insert(record.id).inserted else {
                throw Refused.invalid("proxiedMvpd[\(index)].id", "is '\(EntityText.shortened(record.id))', which is there twice").fault
            }
            entries.append((EntityKey(.mvpds, record.id), tree(record, behind: proxy)))
        }
        return entries
    }

    private static func tree(_ record: ProxiedMvpdList.Record, behind proxy: String) -> JsonTree {
        var reference: [String: JsonTree] = ["mvpd": .string(proxy), "listed": .bool(true)]
        if let provider = record.providerID { reference["providerId"] = .string(provider) }
        if !record.requestorIDs.isEmpty { reference["requestors"] = .array(record.requestorIDs.map { .string($0) }) }
        var members: [String: JsonTree] = ["id": .string(record.id), "displayName": .string(record.displayName), "proxy": .object(reference)]
        if !record.logoURL.isEmpty { members["logoUrl"] = .string(record.logoURL) }
        if let frame = record.frame {
            members["iframeRequired"] = .bool(true)
            members["iframeWidth"] = size(frame.width)
            members["iframeHeight"] = size(frame.height)
        }
        return .object(members)
    }

    /// What is no number stays a text, so that the rules of the catalogue name it.
    private static func size(_ text: String) -> JsonTree { UInt16(text).map { JsonTree.number("\($0)") } ?? .string(text) }

    static func contract(_ tree: JsonTree) -> ProxiedMvpd {
        ProxiedMvpd(
            id: tree["id"]?.text ?? "", displayName: tree["displayName"]?.text ?? "", logoURL: tree["logoUrl"]?.text ?? "",
            providerID: tree["proxy"]?["providerId"]?.text ?? "", iframeWidth: number(tree["iframeWidth"]),
            iframeHeight: number(tree["iframeHeight"]),
            requestorIDs: tree["proxy"]?["requestors"]?.texts ?? [])
    }

    private static func number(_ tree: JsonTree?) -> UInt32 { if case .number(let text) = tree { UInt32(text) ?? 0 } else { 0 } }
}
