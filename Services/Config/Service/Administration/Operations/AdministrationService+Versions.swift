internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults

extension AdministrationService {
    public func listVersions(_ request: ListVersionsRequest, context: CallContext) async throws -> VersionPage {
        let rights = try await rights(request.token, .read)
        let page = try Page(request.page)
        let (all, published) = try await publisher.read { (try $0.versions(), try $0.publishedVersion()) }
        let versions = all.filter { rights.sees(record: $0.programmers) }
        let current = all.first?.version ?? 0
        return VersionPage(
            versions: page.slice(versions).map { $0.contract(current: current, published: published) }, total: UInt32(versions.count),
            page: page.number, size: page.size)
    }

    public func getVersion(_ request: GetVersionRequest, context: CallContext) async throws -> VersionSnapshot {
        let rights = try await rights(request.token, .read)
        return try await publisher.read { ledger in
            let (record, document) = try visible(request.version, rights, ledger)
            let (current, published) = (try ledger.requireNewest().version, try ledger.publishedVersion())
            return VersionSnapshot(
                version: record.contract(current: current, published: published), documentJson: rights.visible(document).tree.canonical)
        }
    }

    public func compareVersions(_ request: CompareVersionsRequest, context: CallContext) async throws -> VersionComparison {
        let rights = try await rights(request.token, .read)
        return try await publisher.read { ledger in
            let (_, old) = try visible(request.oldVersion, rights, ledger)
            let (_, new) = try visible(request.newVersion, rights, ledger)
            let changes = rights.visible(old).changes(to: rights.visible(new))
            return VersionComparison(oldVersion: request.oldVersion, newVersion: request.newVersion, changes: changes.lines)
        }
    }

    private func visible(_ version: UInt64, _ rights: Rights, _ ledger: CatalogueLedger) throws -> (VersionRecord, CatalogueDocument) {
        let record = try ledger.version(version)
        guard rights.sees(record: record.programmers) else { throw Fault.notFound("version") }
        return (record, try ledger.document(record.documentSHA256))
    }
}
