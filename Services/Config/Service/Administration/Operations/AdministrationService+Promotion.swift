internal import CatalogueFiles
public import ContractRuntime
public import Contracts
internal import Faults
internal import StrictJson

extension AdministrationService {
    /// What the administrator may write of the differences becomes the draft; the other cluster is asked for nothing.
    public func promoteCatalogue(_ request: PromoteCatalogueRequest, context: CallContext) async throws -> DraftOutcome {
        let rights = try await rights(request.token, .edit)
        let promotion = Promotion(keepsEndpoints: request.keepEndpoints, keepsOthers: request.keepOthers)
        let other: CatalogueDocument
        do throws(Fault) {
            other = try Self.exported(request.catalogue)
        } catch {
            return DraftOutcome(outcome: .refusal(try error.refusalOrThrow()))
        }
        return try await redraft { ledger in
            guard try !ledger.hasDraft(rights.name) else {
                throw Refused(.preconditionFailed, "The draft has changes; push or dismiss them first.").fault
            }
            var draft = try ledger.draft(of: rights)
            let changes = promotion.changes(from: draft.document, to: other).filter { rights.mayMake($0, from: draft.document, to: other) }
            draft.document.apply(changes)
            draft.document = draft.document.keepingCallbacks(of: draft.baseDocument)
            _ = try DocumentCheck.configuration(of: draft.document, ledger, for: rights)
            try ledger.keep(draft, of: rights.name)
            return draft.contract
        }
    }

    /// - Parameter text: A catalogue as JSON, or a version of one as the administration API answers it.
    /// - Throws: A `Refused` as its cause.
    private static func exported(_ text: String) throws(Fault) -> CatalogueDocument {
        let tree: JsonTree
        do throws(JsonSyntaxError) {
            tree = JsonTree(try JsonDocument(parsing: Array(text.utf8)).root)
        } catch {
            throw Refused.invalid("catalogue", EntityText.shortened("is no JSON: \(error)")).fault
        }
        let whole = tree["requestors"] == nil ? tree["document"] ?? tree : tree
        for section in CatalogueSection.allCases where section.isMandatory {
            guard case .array = whole[section.rawValue] else {
                throw Refused.invalid("catalogue", "is no exported catalogue: it has no list '\(section.rawValue)'").fault
            }
        }
        return CatalogueDocument(whole)
    }
}
