public import Clocks

extension ResponseVerification {
    /// Steps 24 to 32, on verified content only.
    mutating func checkAssertion(_ verified: VerifiedElement) throws(SamlRejection) -> VerifiedAssertion {
        let assertion = verified.element
        let id = try checkForm(of: assertion)
        let issuer = try only("Issuer", in: assertion, .assertionIssuer, .issuer)
        try checkIssuer(issuer, .assertionIssuer)
        let subject = try only("Subject", in: assertion, .subject, .subjectFormat)
        let nameID = try checkNameID(of: subject)
        var latest = try checkConfirmation(of: subject)
        if let end = try checkConditions(of: assertion) { latest = max(latest, end) }
        let session = try checkAuthnStatements(of: assertion)
        let userID = try checkUserID(nameID, of: assertion)
        let statements = AttributeStatements(of: assertion)
        return VerifiedAssertion(
            replayKey: .init(issuer: try text(of: issuer, .replay), assertionID: id, expiresAt: latest + expected.clockSkew),
            nameID: nameID, sessionIndex: session?.index, sessionNotOnOrAfter: session?.end, authnInstant: session?.instant, userID: userID,
            attributeNames: statements.names, attributes: statements.mapped(by: expected.attributeMap, nameID: nameID))
    }

    /// Step 24.
    /// - Returns: The assertion's ID.
    mutating func checkForm(of assertion: XmlElement) throws(SamlRejection) -> String {
        let issued = try instant("IssueInstant", of: assertion, .assertionForm, .assertionForm)
        guard let id = assertion.attribute("ID"), assertion.attribute("Version", is: "2.0"), let issued, issued - expected.clockSkew <= now else {
            throw trace.fail(.assertionForm, .assertionForm, "The assertion lacks a version, an ID or a sane issue instant.")
        }
        trace.pass(.assertionForm)
        return id
    }

    /// Step 26.
    /// - Returns: Nil when there is none, where an attribute identifies the person: it is optional (SAML core §2.4.1).
    mutating func checkNameID(of subject: XmlElement) throws(SamlRejection) -> NameID? {
        let elements = subject.children("NameID", in: Namespaces.assertion)
        if elements.isEmpty, expected.guidAttributeName != nil {
            trace.pass(.subject, "without a NameID; an attribute is to identify the person")
            return nil
        }
        guard elements.count == 1 else {
            throw trace.fail(
                .subject, .subjectFormat,
                elements.isEmpty ? "There is no NameID, and no attribute is named to identify the person." : "There is more than one NameID.")
        }
        let element = elements[0]
        let format = element.attribute("Format")
        let accepted = expected.nameIDFormats
        try trace.require(
            accepted.contains(format ?? SamlURI.unspecifiedFormat) || accepted.contains(SamlURI.unspecifiedFormat), .subject, .subjectFormat,
            "The NameID's format was not asked for.")
        let qualifier = element.attribute("NameQualifier")
        try trace.require(
            qualifier.map(expected.issuer.acceptsQualifier) ?? true, .assertionIssuer, .issuer, "The NameID belongs to another provider.")
        let value = try text(of: element, .subject)
        return NameID(
            value: ProviderUserID(value), format: format, nameQualifier: qualifier, spNameQualifier: element.attribute("SPNameQualifier"),
            spProvidedID: element.attribute("SPProvidedID"))
    }

    /// Step 27.
    /// - Returns: The latest end among all confirmations.
    mutating func checkConfirmation(of subject: XmlElement) throws(SamlRejection) -> Timestamp {
        var latest: Timestamp?
        var (isConfirmed, isLate) = (false, false)
        for confirmation in subject.children("SubjectConfirmation", in: Namespaces.assertion) {
            let details = confirmation.children("SubjectConfirmationData", in: Namespaces.assertion)
            guard details.count == 1, let end = try instant("NotOnOrAfter", of: details[0], .confirmation, .confirmation) else { continue }
            latest = max(latest ?? end, end)
            guard confirmation.attribute("Method", equals: SamlURI.bearer), confirms(details[0]) else { continue }
            if now < end + expected.clockSkew { isConfirmed = true } else { isLate = true }
        }
        guard isConfirmed, let latest else {
            throw trace.fail(
                .confirmation, .confirmation, "No bearer confirmation is for this service, this request and this time.", clock: isLate ? .ahead : nil)
        }
        trace.pass(.confirmation)
        return latest
    }

    /// At whatever time.
    private func confirms(_ details: XmlElement) -> Bool {
        expected.isAddressed(to: details.attribute("Recipient")) && details.attribute("NotBefore") == nil
            && (expected.answeredRequest == .any || details.attribute("InResponseTo", equals: expected.requestID))
    }

    /// Steps 28 and 29.
    /// - Returns: The end of the assertion's validity, when it has one.
    mutating func checkConditions(of assertion: XmlElement) throws(SamlRejection) -> Timestamp? {
        let conditions = try onlyConditions(of: assertion)
        let end = try checkPeriod(of: conditions)
        try checkAudience(try restrictions(of: conditions))
        return end
    }

    mutating func onlyConditions(of assertion: XmlElement) throws(SamlRejection) -> XmlElement {
        let all = assertion.children("Conditions", in: Namespaces.assertion)
        guard all.count == 1 else { throw trace.fail(.audience, .audience, "The assertion does not have one set of conditions.") }
        return all[0]
    }

    /// Step 28: no condition but those that are understood.
    /// - Returns: Those that name audiences.
    mutating func restrictions(of conditions: XmlElement) throws(SamlRejection) -> [XmlElement] {
        var restrictions: [XmlElement] = []
        for condition in conditions.children {
            if condition.isNamed("AudienceRestriction", in: Namespaces.assertion) {
                restrictions.append(condition)
            } else if !condition.isNamed("OneTimeUse", in: Namespaces.assertion), !condition.isNamed("ProxyRestriction", in: Namespaces.assertion) {
                throw trace.fail(.conditions, .condition, "The assertion has a condition that is not understood.")
            }
        }
        return restrictions
    }

    /// Step 29.
    mutating func checkAudience(_ restrictions: [XmlElement]) throws(SamlRejection) {
        var isForUs = !restrictions.isEmpty
        for restriction in restrictions { isForUs = try admits(restriction) && isForUs }
        try trace.require(isForUs, .audience, .audience, "The assertion is meant for another audience, or for none.")
    }

    mutating func checkPeriod(of conditions: XmlElement) throws(SamlRejection) -> Timestamp? {
        let start = try instant("NotBefore", of: conditions, .conditions, .time)
        let end = try instant("NotOnOrAfter", of: conditions, .conditions, .time)
        let isEarly = start.map { now < $0 - expected.clockSkew } ?? false
        guard !isEarly, end.map({ now < $0 + expected.clockSkew }) ?? true else {
            throw trace.fail(.conditions, .time, "The assertion is not valid at this time.", clock: isEarly ? .behind : .ahead)
        }
        trace.pass(.conditions)
        return end
    }

    private mutating func admits(_ restriction: XmlElement) throws(SamlRejection) -> Bool {
        for audience in restriction.children("Audience", in: Namespaces.assertion) {
            let name = try text(of: audience, .audience)
            if name == expected.serviceProviderEntityID || name == expected.issuerSent { return true }
        }
        return false
    }

    /// The only child of that name.
    mutating func only(
        _ name: StaticString, in parent: XmlElement, _ check: Check, _ reason: RejectionReason
    ) throws(SamlRejection) -> XmlElement {
        var children = parent.children.lazy.filter { $0.isNamed(name, in: Namespaces.assertion) }.makeIterator()
        guard let only = children.next(), children.next() == nil else {
            throw trace.fail(check, reason, "There is not exactly one \(name).")
        }
        return only
    }
}

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

/// The assertion consumer's checks (mvpd §2.3): octets in, verdict out.
///
/// It holds no state, does no I/O, and may be used from any thread; one call takes well under a millisecond for an ordinary message. Before it, the
/// caller has resolved RelayState and cookie to the pending request (step 4). After it, the caller records `VerifiedAssertion.replayKey` and consumes
/// the request in one step (step 31).
public struct ResponseVerifier: Sendable {
    public init() {}

    /// - Parameters:
    ///   - response: The message as it arrived.
    ///   - expected: The demands of the pending request and the endpoint's record.
    ///   - now: The time of day.
    public func verify(_ response: UnverifiedResponse, expecting expected: ExpectedResponse, at now: Timestamp) -> ResponseReport {
        var verification = ResponseVerification(expecting: expected, at: now)
        return verification.report(on: response)
    }
}
