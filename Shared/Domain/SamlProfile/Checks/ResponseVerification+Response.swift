internal import Clocks

extension ResponseVerification {
    /// Steps 19 to 23. The content of an unsigned response can only refuse the sign-in, never grant it.
    /// - Returns: The status, unless it is a success.
    mutating func checkResponse(_ signed: Signed) throws(SamlRejection) -> ResponseStatus? {
        let response = signed.response?.element ?? signed.received.root
        try checkDestination(of: response, isSigned: signed.response != nil)
        try checkAge(of: response)
        try checkAnsweredRequest(of: response)
        if let issuer = response.firstChild("Issuer", in: Namespaces.assertion) {
            try checkIssuer(issuer, .responseIssuer)
        }
        return try status(of: response)
    }

    /// Step 19.
    mutating func checkDestination(of response: XmlElement, isSigned: Bool) throws(SamlRejection) {
        let destination = response.attribute("Destination")
        try trace.require(
            destination == nil ? !isSigned : expected.isAddressed(to: destination), .destination, .destination,
            "The response is not addressed to this assertion consumer service.")
    }

    /// Step 21.
    mutating func checkAnsweredRequest(of response: XmlElement) throws(SamlRejection) {
        guard let answered = response.attribute("InResponseTo") else {
            throw trace.fail(.inResponseTo, .unsolicited, "The response answers no request.")
        }
        try trace.require(
            expected.answeredRequest == .any || answered == expected.requestID, .inResponseTo, .request, "The response answers another request.")
    }

    /// Step 20.
    mutating func checkAge(of response: XmlElement) throws(SamlRejection) {
        guard let issued = try instant("IssueInstant", of: response, .issueInstant, .stale) else {
            throw trace.fail(.issueInstant, .stale, "The response does not say when it was issued.")
        }
        let age = expected.answeredRequest == .any ? min(expected.maximumResponseAge, AnsweredRequest.maximumAge) : expected.maximumResponseAge
        let isFuture = issued - expected.clockSkew > now
        guard !isFuture, issued + age + expected.clockSkew >= now else {
            throw trace.fail(.issueInstant, .stale, "The response is too old, or from the future.", clock: isFuture ? .behind : .ahead)
        }
        trace.pass(.issueInstant)
    }

    /// Steps 22 and 25.
    mutating func checkIssuer(_ issuer: XmlElement, _ check: Check) throws(SamlRejection) {
        let format = issuer.attribute("Format")
        let value = try text(of: issuer, check)
        try trace.require(
            (format == nil || format == SamlURI.entityFormat) && expected.issuer.accepts(value), check, .issuer,
            "The issuer is not the MVPD that was asked.")
    }

    mutating func status(of response: XmlElement) throws(SamlRejection) -> ResponseStatus? {
        if Self.isSuccess(response) {
            trace.pass(.status)
            return nil
        }
        var codes: [String] = []
        var holder = response.firstChild("Status", in: Namespaces.protocol)
        while let code = holder?.firstChild("StatusCode", in: Namespaces.protocol) {
            codes.append(code.attribute("Value") ?? "")
            holder = code
        }
        let status = ResponseStatus(uris: codes)
        _ = trace.fail(.status, .assertionForm, "The status is \(status.codes.joined(separator: "/")).")
        return status
    }

    /// Step 23, where any other status is a failure.
    mutating func requireSuccess(of response: XmlElement) throws(SamlRejection) {
        if let status = try status(of: response) { throw SamlRejection(.assertionForm, "The status is \(status.codes.joined(separator: "/")).") }
    }

    static func isSuccess(_ response: XmlElement) -> Bool {
        let statuses = response.children("Status", in: Namespaces.protocol)
        let codes = statuses.first?.children("StatusCode", in: Namespaces.protocol) ?? []
        return statuses.count == 1 && codes.count == 1 && codes[0].attribute("Value", equals: ResponseStatus.prefix + "Success")
    }
}
