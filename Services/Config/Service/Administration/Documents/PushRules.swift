internal import Catalogue
internal import CatalogueFiles
internal import Clocks
internal import Contracts

/// What is asked of a push as a whole.
enum PushRules {
    /// A metadata key that is to be encrypted needs a certificate to which it can be encrypted (dashboard §2, #11). Only what the push itself
    /// makes so is refused: a catalogue that lacked a certificate before stays editable.
    static func problems(_ changes: [PropertyChange], before: Configuration, after: Configuration, now: Timestamp) -> [FieldProblem] {
        let former = Catalogue(before)
        let catalogue = Catalogue(after)
        return after.integrations.compactMap { integration in
            guard integration.metadataKeys.contains(where: \.encrypted), let requestor = catalogue.requestor(integration.requestorID),
                catalogue.metadataCertificate(of: requestor, now: now) == nil
            else { return nil }
            let key = EntityKey(.integrations, integration)
            let isKeyChanged = changes.contains { $0.key == key && ($0.path.isEmpty || $0.path == ["metadataKeys"]) }
            let isCertificateLost = former.requestor(requestor.id).map { former.metadataCertificate(of: $0, now: now) != nil } ?? false
            guard isKeyChanged || isCertificateLost else { return nil }
            return FieldProblem(
                field: "\(key): metadataKeys", message: "has keys that are to be encrypted, but the requestor has no valid certificate for that")
        }
    }
}
