internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults
internal import OutboundHttp
internal import SamlProfile

// Two steps, so that no key is trusted that nobody has compared (mvpd §2.7). Nothing is kept between them: the second carries the document again.
extension AdministrationService {
    public func reviewProviderMetadata(
        _ request: ReviewProviderMetadataRequest, context: CallContext
    ) async throws -> ProviderMetadata {
        _ = try await writer(request.token, .mvpd, isReplacement: true)
        do throws(Fault) {
            if request.address.isEmpty { return try review(request.document).contract }
            return try await reviewFetched(request.address)
        } catch {
            // What cannot be read has nothing to show but why.
            return ProviderMetadata(problems: try error.refusalOrThrow().problems)
        }
    }

    public func importProviderMetadata(_ request: ImportProviderMetadataRequest, context: CallContext) async throws -> EntityOutcome {
        let (rights, section) = try await writer(request.token, .mvpd, isReplacement: !request.ifMatch.isEmpty)
        return try await edit {
            let provider = try ProviderImport(try review(request.document), confirmed: request.fingerprints, expired: request.confirmedCertificates)
            let others = request.entryJson.isEmpty ? nil : try EntityText.object(request.entryJson, field: "entry")
            let key = EntityKey(section, request.mvpdID)
            return { ledger in
                let editing = DraftEditing(ledger: ledger, rights: rights, confirmedCertificates: request.confirmedCertificates)
                let former = try ledger.draft(of: rights).document[key]
                let entry = provider.entry(request.mvpdID, from: former, with: others)
                if former == nil, request.ifMatch.isEmpty { return try editing.create(key, entry) }
                return try editing.replace(key, with: entry, ifMatch: request.ifMatch)
            }
        }
    }

    /// - Throws: A `Refused` as its cause, when there is no document that can be read.
    private func reviewFetched(_ address: String) async throws(Fault) -> ProviderMetadata {
        guard let fetch else { throw Refused.invalid("address", "cannot be used: this copy fetches nothing").fault }
        let found: DocumentFetch.Document
        do throws(DocumentFetch.Refusal) {
            found = try await fetch.document(at: address)
        } catch {
            logger.info("catalogue.metadata_not_fetched", metadata: ["reason": "\(error)"])
            throw Refused.invalid("address", EntityText.shortened("\(error)")).fault
        }
        let text: String
        do throws(MetadataText.Problem) {
            text = try MetadataText.text(of: found.body)
        } catch {
            throw Refused.invalid("address", "leads to a document that \(error.message)").fault
        }
        if let discovery = ProviderDiscovery(text, from: found.url) { return discovery.contract }
        var metadata = try review(text).contract
        metadata.document = text
        return metadata
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
