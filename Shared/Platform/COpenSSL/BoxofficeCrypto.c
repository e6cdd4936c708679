#include "BoxofficeCrypto.h"

#include <string.h>

GENERAL_NAMES *boxoffice_names_new(void) { return sk_GENERAL_NAME_new_null(); }

void boxoffice_names_free(GENERAL_NAMES *names) { GENERAL_NAMES_free(names); }

static int add_name(GENERAL_NAMES *names, int type, void *value) {
    GENERAL_NAME *name = GENERAL_NAME_new();
    if (!name) return 0;
    GENERAL_NAME_set0_value(name, type, value);
    if (sk_GENERAL_NAME_push(names, name)) return 1;
    GENERAL_NAME_free(name);
    return 0;
}

int boxoffice_names_add_dns(GENERAL_NAMES *names, const char *text) {
    ASN1_IA5STRING *value = ASN1_IA5STRING_new();
    if (!value) return 0;
    if (ASN1_STRING_set(value, text, (int)strlen(text)) && add_name(names, GEN_DNS, value)) return 1;
    return 0;
}

int boxoffice_names_add_address(GENERAL_NAMES *names, const char *text) {
    ASN1_OCTET_STRING *value = a2i_IPADDRESS(text);
    return value && add_name(names, GEN_IPADD, value);
}

GENERAL_NAMES *boxoffice_names_of(const X509 *certificate) {
    return X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

int boxoffice_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }

const uint8_t *boxoffice_names_dns(const GENERAL_NAMES *names, int index, size_t *length) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    if (!name || name->type != GEN_DNS) return NULL;
    *length = (size_t)ASN1_STRING_length(name->d.dNSName);
    return ASN1_STRING_get0_data(name->d.dNSName);
}

const uint8_t *boxoffice_bio_bytes(BIO *bio, size_t *length) {
    char *bytes = NULL;
    long count = BIO_get_mem_data(bio, &bytes);
    *length = count > 0 ? (size_t)count : 0;
    return (const uint8_t *)bytes;
}

int boxoffice_print_name(BIO *bio, const X509_NAME *name) { return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253) >= 0; }

// The builder keeps pointers to what was pushed: it must be used up before they go.
static EVP_PKEY *build_public_key(const char *type, OSSL_PARAM_BLD *builder) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    if (!context || !parameters || EVP_PKEY_fromdata_init(context) != 1
        || EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
        key = NULL;
    }
    OSSL_PARAM_free(parameters);
    EVP_PKEY_CTX_free(context);
    return key;
}

EVP_PKEY *boxoffice_rsa_public_key(const uint8_t *modulus, size_t modulus_length, const uint8_t *exponent, size_t exponent_length) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    BIGNUM *n = BN_bin2bn(modulus, (int)modulus_length, NULL);
    BIGNUM *e = BN_bin2bn(exponent, (int)exponent_length, NULL);
    if (builder && n && e && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n)
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e)) {
        key = build_public_key("RSA", builder);
    }
    BN_free(e);
    BN_free(n);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

EVP_PKEY *boxoffice_p256_public_key(const uint8_t *point, size_t length) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (builder && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0)
        && OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, length)) {
        key = build_public_key("EC", builder);
    }
    OSSL_PARAM_BLD_free(builder);
    return key;
}

static int add_extension(X509 *certificate, X509V3_CTX *context, int nid, const char *value) {
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, context, nid, value);
    if (!extension) return 0;
    int added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

static int add_usage(X509 *certificate, X509V3_CTX *context, BoxofficeCertificateProfile profile) {
    switch (profile) {
    case BoxofficeProfileAuthority:
        return add_extension(certificate, context, NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
            && add_extension(certificate, context, NID_key_usage, "critical,keyCertSign,cRLSign");
    case BoxofficeProfilePeer:
        return add_extension(certificate, context, NID_basic_constraints, "critical,CA:FALSE")
            && add_extension(certificate, context, NID_key_usage, "critical,digitalSignature")
            && add_extension(certificate, context, NID_ext_key_usage, "serverAuth,clientAuth");
    case BoxofficeProfileSigning:
        return add_extension(certificate, context, NID_basic_constraints, "critical,CA:FALSE")
            && add_extension(certificate, context, NID_key_usage, "critical,digitalSignature");
    case BoxofficeProfileEncryption:
        return add_extension(certificate, context, NID_basic_constraints, "critical,CA:FALSE")
            && add_extension(certificate, context, NID_key_usage, "critical,keyEncipherment,dataEncipherment");
    }
    return 0;
}

static int add_extensions(X509 *certificate, const BoxofficeCertificateRequest *request) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, request->issuer ? request->issuer : certificate, certificate, NULL, NULL, 0);
    if (!add_usage(certificate, &context, request->profile)) return 0;
    if (!add_extension(certificate, &context, NID_subject_key_identifier, "hash")) return 0;
    if (request->issuer && !add_extension(certificate, &context, NID_authority_key_identifier, "keyid:always")) return 0;
    GENERAL_NAMES *names = request->alternative_names;
    if (!names || sk_GENERAL_NAME_num(names) == 0) return 1;
    return X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) == 1;
}

static int set_serial(X509 *certificate, const BoxofficeCertificateRequest *request) {
    BIGNUM *number = BN_bin2bn(request->serial, (int)request->serial_length, NULL);
    if (!number) return 0;
    int set = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return set;
}

static int set_names(X509 *certificate, const BoxofficeCertificateRequest *request) {
    X509_NAME *subject = X509_get_subject_name(certificate);
    const unsigned char *text = (const unsigned char *)request->common_name;
    if (!X509_NAME_add_entry_by_NID(subject, NID_commonName, MBSTRING_UTF8, text, -1, -1, 0)) return 0;
    return X509_set_issuer_name(certificate, request->issuer ? X509_get_subject_name(request->issuer) : subject);
}

X509 *boxoffice_issue_certificate(const BoxofficeCertificateRequest *request) {
    X509 *certificate = X509_new();
    if (!certificate) return NULL;
    // ECDSA and RSA keys sign with SHA-256 here.
    int issued = X509_set_version(certificate, X509_VERSION_3) && set_serial(certificate, request) && set_names(certificate, request)
        && ASN1_TIME_adj(X509_getm_notBefore(certificate), (time_t)request->not_before, 0, 0)
        && ASN1_TIME_adj(X509_getm_notAfter(certificate), (time_t)request->not_after, 0, 0)
        && X509_set_pubkey(certificate, request->subject_key) && add_extensions(certificate, request)
        && X509_sign(certificate, request->issuer_key, EVP_sha256()) > 0;
    if (issued) return certificate;
    X509_free(certificate);
    return NULL;
}
