internal import CXmlSec

/// Why octets are not a document that may be read.
enum ParseFailure: Error {
    case doctype
    case form
    case limit
    case unusable

    init(_ status: cxs_parse_status) {
        switch status {
        case CXS_HAS_DOCTYPE: self = .doctype
        case CXS_OVER_LIMIT: self = .limit
        case CXS_NO_MEMORY: self = .unusable
        default: self = .form
        }
    }

    var rejection: SamlRejection {
        switch self {
        case .doctype: SamlRejection(.doctype, "The document has a document type declaration.")
        case .form: SamlRejection(.form, "The document is not plain well-formed UTF-8 XML.")
        case .limit: SamlRejection(.limit, "The document is too deep, or has too many elements, attributes or namespaces.")
        case .unusable: SamlRejection(.unusable, "The XML library has no memory or cannot be used.")
        }
    }
}
