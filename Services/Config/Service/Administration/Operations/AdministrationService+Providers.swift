internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults
internal import SamlProfile

// Two steps, so that no key is trusted that nobody has compared (mvpd §2.7). Nothing is kept between them: the second carries the document again.
extension AdministrationService {
    public func reviewProviderMetadata(
        _ request: ReviewProviderMetadataRequest, context: CallContext
    ) async throws -> ProviderMetadata {
        _ = try await writer(request.token, .mvpd, isReplacement: true)
        do throws(Fault) {
            return try review(request.document).contract
        } catch {
            // What cannot be read has nothing to show but why.
            return ProviderMetadata(problems: try error.refusalOrThrow().problems)
        }
    }

    public func importProviderMetadata(_ request: ImportProviderMetadataRequest, context: CallContext) async throws -> EntityOutcome {
        let (rights, section) = try await writer(request.token, .mvpd, isReplacement: !request.ifMatch.isEmpty)
        return try await edit {
            let provider = try ProviderImport(try review(request.document), confirmed: request.fingerprints)
            let others = request.entryJson.isEmpty ? nil : try EntityText.object(request.entryJson, field: "entry")
            let key = EntityKey(section, request.mvpdID)
            return { ledger in
                let editing = DraftEditing(ledger: ledger, rights: rights)
                let former = try ledger.draft(of: rights.name).document[key]
                let entry = provider.entry(request.mvpdID, from: former, with: others)
                if former == nil, request.ifMatch.isEmpty { return try editing.create(key, entry) }
                return try editing.replace(key, with: entry, ifMatch: request.ifMatch)
            }
        }
    }

    /// - Throws: A `Refused` as its cause, when the document cannot be read.
    private func review(_ document: String) throws(Fault) -> ProviderReview {
        do throws(SamlRejection) {
            return ProviderReview(metadata: try IdentityProviderMetadata(document: document), now: publisher.now)
        } catch {
            throw Refused.invalid("metadata", "cannot be read. \(error.explanation)").fault
        }
    }
}
