internal import Contracts
internal import StrictJson

extension CatalogueReading {
    func requestor(_ value: JsonValue) -> Requestor? {
        value.object { object in
            var requestor = Requestor()
            requestor.id = object.newID { requestors[$0] == nil }
            requestor.name = object.text("name")
            requestor.programmerID = object.reference("programmer", "programmer", in: programmers)
            requestor.domains = object.required("domains")?.array(domain) ?? []
            requestor.enhancedErrors = object.flag("enhancedErrors")
            requestor.registrationURL = object.url("registrationUrl", required: false)
            requestor.defaultRedirectURL = object.url("defaultRedirectUrl", required: false)
            requestor.mediaTokenFormat = object.choice("mediaTokenFormat", ["reference": .reference, "jws": .jws], else: .reference)
            requestor.mediaTokenTtlSeconds = object.number("mediaTokenTtl", 1...3600)
            requestor.customSchemes = object.texts("customSchemes") { CatalogueSyntax.isCustomScheme($0) ? nil : "must be 'adbe.' and letters" }
            requestor.channels = object.texts("channels")
            if !requestor.id.isEmpty { requestors[requestor.id] = requestor.programmerID }
            return requestor
        }
    }

    /// `"acme.example"`, or an object where something else is to be said of the domain.
    private func domain(_ value: JsonValue) -> Domain? {
        if value.isString { return domainName(value).map { Domain(name: $0) } }
        return value.object { object in
            Domain(name: object.required("name").flatMap(domainName) ?? "", mvpdInitiated: object.flag("mvpdInitiated"))
        }
    }

    private func domainName(_ value: JsonValue) -> String? {
        guard let name = value.string() else { return nil }
        if !CatalogueSyntax.isDomain(name) { value.problem("must be a domain name in lower case, for example 'acme.example'; it is '\(name)'") }
        return name
    }
}
