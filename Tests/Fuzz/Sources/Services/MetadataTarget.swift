@testable internal import SamlProfile

/// Metadata of identity providers, and proxies' lists of MVPDs: what is read is read again from a document that is written of it.
enum MetadataTarget {
    @Sendable static func run(_ input: inout Input) {
        let octets = Array(input.remainder())
        let text = (try? MetadataText.text(of: octets)) ?? String(decoding: octets, as: UTF8.self)
        if let metadata = try? IdentityProviderMetadata(document: text) {
            noteTaken()
            checkProvider(metadata)
        }
        if let list = try? ProxiedMvpdList(document: text) {
            noteTaken()
            checkList(list)
        }
    }

    private static func checkProvider(_ metadata: IdentityProviderMetadata) {
        var writer = MarkupWriter()
        writer.element("EntityDescriptor", [("xmlns", "\(Namespaces.metadata)"), ("entityID", metadata.entityID)]) { entity in
            entity.element(
                "IDPSSODescriptor",
                [
                    ("protocolSupportEnumeration", "\(Namespaces.protocol)"),
                    ("WantAuthnRequestsSigned", metadata.wantsSignedRequests ? "true" : "false"),
                ]
            ) { role in
                for endpoint in metadata.endpoints where endpoint.service == .singleLogout { write(endpoint, to: &role) }
                for format in metadata.nameIDFormats { role.element("NameIDFormat", text: format) }
                for endpoint in metadata.endpoints where endpoint.service == .singleSignOn { write(endpoint, to: &role) }
            }
        }
        guard writer.text.utf8.count <= IdentityProviderMetadata.largest else { return }
        guard let again = try? IdentityProviderMetadata(document: writer.text) else { fatalError("metadata cannot be written again") }
        check(
            again.entityID == metadata.entityID && again.endpoints == metadata.endpoints && again.nameIDFormats == metadata.nameIDFormats
                && again.wantsSignedRequests == metadata.wantsSignedRequests, "metadata changed on its way")
        let certificates = metadata.certificates.filter { $0.problem.isEmpty }
        check(Set(certificates).count == certificates.count, "a certificate is there twice")
    }

    private static func write(_ endpoint: IdentityProviderMetadata.Endpoint, to role: inout MarkupWriter) {
        var attributes = [("Binding", endpoint.binding), ("Location", endpoint.location)]
        if let response = endpoint.responseLocation { attributes.append(("ResponseLocation", response)) }
        role.element(endpoint.service == .singleSignOn ? "SingleSignOnService" : "SingleLogoutService", attributes)
    }

    private static func checkList(_ list: ProxiedMvpdList) {
        check(list.records.count <= ProxiedMvpdList.most, "a list leaves its bounds")
        var writer = MarkupWriter()
        writer.element("proxiedMvpds", [("xmlns", "\(Namespaces.proxiedMvpd)")]) { write(list, to: &$0) }
        guard writer.text.utf8.count <= ProxiedMvpdList.largest else { return }
        guard let again = try? ProxiedMvpdList(document: writer.text) else { fatalError("a list cannot be written again") }
        check(again == list, "a list changed on its way")
    }

    private static func write(_ list: ProxiedMvpdList, to root: inout MarkupWriter) {
        for record in list.records {
            check(record.providerID.map { (1...128).contains($0.utf8.count) } ?? true, "an id leaves its bounds")
            root.element("proxiedMvpd") { mvpd in
                mvpd.element("id", record.providerID.map { [("ProviderID", $0)] } ?? [], text: record.id)
                mvpd.element("displayName", text: record.displayName)
                mvpd.element("logoURL", text: record.logoURL)
                if let frame = record.frame {
                    mvpd.element("iframeSize") { size in
                        size.element("iframeWidth", text: frame.width)
                        size.element("iframeHeight", text: frame.height)
                    }
                }
                if !record.requestorIDs.isEmpty {
                    mvpd.element("requestorIds") { ids in for id in record.requestorIDs { ids.element("requestorId", text: id) } }
                }
            }
        }
    }
}
