/// What an attacker, or a faulty MVPD, sends in place of the genuine answer; each attack is derived from that answer (mvpd §7).
enum Attack: String, CaseIterable, Codable, Sendable {
    // Signatures.
    case xsw1, xsw2, xsw3, xsw4, xsw5, xsw6, xsw7, xsw8
    case unsigned, emptySignature, noReference, twoReferences, emptyReference, foreignReference, xpointerReference, httpReference, fileReference
    case repeatedID, otherIDs, strangersKey, hmac, noAlgorithm, sha1, md5, xslt, xpath, comments, furtherTransform, relativeNamespace, object,
        manifest
    case unsignedStatus, changedOctet
    // XML.
    case fileEntity, httpEntity, parameterEntity, manyEntities, otherEncoding, depth, size, comment, processingInstruction, unboundPrefix
    case repeatedAttribute, brokenText, trailingData, cdata, urlSafeBase64, brokenBase64
    // Protocol: signed anew by the MVPD's own key.
    case expired, notYetValid, noConfirmationEnd, confirmationBegins, foreignRecipient, foreignAudience, noAudience, secondAudience
    case foreignDestination, unsolicited, foreignRequest, stale, foreignIssuer, holderOfKey, unknownCondition, foreignNameFormat
    case withoutAssertion, failureWithAssertion, futureSignIn, noStatement
    // Encryption: of an MVPD that encrypts.
    case rsa15, changedCiphertext, changedKey
}
